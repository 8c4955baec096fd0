"""Factors of the training data: one protocol, and one class in each file."""
