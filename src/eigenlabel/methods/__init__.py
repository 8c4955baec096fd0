"""The methods, one file per family, all on the core of ``eigenlabel.core``."""
