"""The version of the package, which records of runs contain."""

__version__ = "0.1.0"
