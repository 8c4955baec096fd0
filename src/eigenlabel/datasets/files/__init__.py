"""Files: opening, decoding, limits of memory, atomic writing."""
