"""Two-round diagnosis: a graph first checks what a model predicts, then offers what the model has missed."""
