"""The estimators, one folder per family."""
