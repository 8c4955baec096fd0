"""Write MATLAB v5 files byte by byte, so that tests can damage them."""

import struct

import numpy as np


def element(kind, content):
    """Write a data element of a MATLAB v5 file."""
    padding = 0 if kind == 15 else -len(content) % 8  # compressed ones follow each other closely
    return struct.pack("<II", kind, len(content)) + content + bytes(padding)


def array(name, kind, shape, *parts, flags=0):
    """Write an array of a MATLAB class, of the given parts."""
    head = element(6, struct.pack("<II", kind | flags, 99))
    head += element(5, np.array(shape, "<i4").tobytes()) + element(1, name.encode())
    return element(14, head + b"".join(parts))


def doubles(values):
    return element(9, np.array(values, "<f8").tobytes())


def integers(values):
    return element(5, np.array(values, "<i4").tobytes())


def matrix(name, A):
    return array(name, 6, A.shape, doubles(A.T.ravel()))


def v5(*variables, order=b"IM"):
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01" + order + b"".join(variables)


def sparse(name, data, indices, indptr, shape):
    return array(name, 5, shape, integers(indices), integers(indptr), doubles(data))
