"""The table of forms is complete."""

from eigenlabel.datasets.forms.index import BINARY, PIECES, READERS, SUFFIXES, WRITERS


def test_every_form_that_is_read_in_pieces_has_a_reader():
    assert set(PIECES) <= set(READERS)


def test_every_suffix_belongs_to_a_writer():
    assert set(SUFFIXES.values()) == set(WRITERS) - {"xmc"}
    assert set(BINARY) <= set(WRITERS)
