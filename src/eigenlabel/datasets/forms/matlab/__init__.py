"""MATLAB files of versions 5 and 7.3."""
