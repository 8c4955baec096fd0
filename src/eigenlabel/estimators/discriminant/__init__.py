"""Multi-task sparse discriminant analysis, MtSDA (Han et al. 2010)."""
