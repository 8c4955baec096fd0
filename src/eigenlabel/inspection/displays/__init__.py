"""Displays of models and results, drawn with matplotlib in scikit-learn's manner.

Each display is computed once (``from_estimator``, ``from_predictions``), holds its numbers as
attributes, and is drawn on any axes (``plot``). matplotlib is imported when something is drawn.
"""
