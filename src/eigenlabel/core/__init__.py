"""The solver core: numpy and scipy only, no knowledge of labels or of scikit-learn."""
