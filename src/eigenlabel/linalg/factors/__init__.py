"""Factors of training data: one protocol, and one file for each kind of factor."""
