"""Linear algebra on numpy and scipy alone: operators, factors, solvers and held-out scores."""
