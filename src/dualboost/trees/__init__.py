"""What a learner is: trees, how they are built, and LightGBM's text form of them."""
