"""Factors of the training data: one protocol, one class per file."""
