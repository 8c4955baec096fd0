"""Several feature sets of the same samples: their kernels, hat matrices and weights."""
