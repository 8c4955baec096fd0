"""What each feature or training sample adds to a score, one module per kind of model."""
