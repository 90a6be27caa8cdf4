"""What a fit returns: a fitted model, and how it scores rows."""
