"""LIBSVM multi-label text."""
