"""A blend of models that err differently, weighed by their held-out log-loss."""
