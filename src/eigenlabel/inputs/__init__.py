"""Checks of what users pass in: data, parameters and views; and progress bars."""
