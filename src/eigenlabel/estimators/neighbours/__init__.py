"""Nearest neighbours: ML-kNN, JEC, MBRM and TagProp."""
