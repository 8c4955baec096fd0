"""Solvers of the equations behind the factors."""
