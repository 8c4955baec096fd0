"""The version of the package, which records of runs contain."""

__version__ = "0.2.0.dev0"
