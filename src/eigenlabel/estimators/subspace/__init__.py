"""Shared-subspace least squares, ML-LS (Ji et al. 2008, 2010)."""
