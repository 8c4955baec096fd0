"""The forms of data files, one module or folder for each."""
