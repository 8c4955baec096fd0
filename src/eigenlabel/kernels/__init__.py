"""Kernels, distances and explicit kernel features."""
