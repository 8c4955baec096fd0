"""File forms: the reader, the pieces and the writer of each."""
