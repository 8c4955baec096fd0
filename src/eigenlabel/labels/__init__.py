"""Label matrices: how targets are read, checked and written back."""
