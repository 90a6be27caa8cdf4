EXTRAS = {}
