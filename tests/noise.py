"""Damage files at random, and read what is left of them."""

import numpy as np
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st

from eigenlabel.datasets import DataError

BITS = [b'"', b",", b"\n", b"\r", b";", b"\t", b"\xff", b"\x00", b"9" * 400, b"[" * 2000, b"-", b""]


def damage(draw, seed):
    """Cut, drop or insert something."""
    for _ in range(draw(st.integers(1, 3))):
        at, cut = draw(st.integers(0, len(seed))), draw(st.integers(0, 8))
        noise = draw(st.one_of(st.binary(max_size=6), st.sampled_from(BITS)))
        seed = seed[:at] + noise + seed[at + cut :]
    return seed


def read_or_refuse(read, path, **options):
    """Read a file; what comes is a Dataset or a DataError."""
    try:
        found = read(path, **options)
    except DataError as error:
        event("refused")
        return str(error)
    event("read")
    n, d = found.X.shape
    assert found.Y.shape == (n, len(found.label_names))
    assert d == len(found.feature_names)
    assert n > 0
    assert d > 0
    assert set(np.unique(found.Y.toarray())) <= {0, 1}
    return found


noisy = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
