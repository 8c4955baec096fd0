"""Estimators around other estimators: thresholds, tuned dimensions, one-vs-rest search."""
