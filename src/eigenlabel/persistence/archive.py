"""Checks of model files that do not rely on the library that reads them.

A model file of skops is a zip archive: ``schema.json`` is a tree of nodes, each with the name of
its loader, and arrays are members of their own. :func:`check_archive` reads the tree before
anything is built from it; :func:`check_objects` looks at all that was built.
"""

import io
import json
import zipfile
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.validation import check_sparse_format

OLDEST = 2  # protocol of skops that model files were ever written with
MOST_NODES = 10**7
# Those that models need. Others call what a file names (MethodNode, OperatorFuncNode,
# ConstructorFromReduceNode), or build what compiled code trusts without a check (TreeNode).
LOADERS = frozenset(
    f"{name}Node"
    for name in (
        *("DType", "DefaultDict", "Dict", "Function", "Json", "List", "Loss", "MaskedArray"),
        *("NdArray", "Object", "RandomState", "Set", "Slice", "SparseMatrix", "Tuple", "Type"),
    )
)
# A LossNode calls the type that it names: it may be one of these modules, which hold losses alone.
LOSSES = ("sklearn._loss._loss", "sklearn.linear_model._sgd_fast")


class UnsafeNodeError(ValueError):
    """A node that is never loaded, whatever a user trusts."""

    def __init__(self, node: dict[str, Any]) -> None:
        super().__init__(f"a node {node['__loader__']} that no model needs")
        self.type_name = f"{node.get('__module__')}.{node.get('__class__')}"


def check_archive(archive: zipfile.ZipFile, max_bytes: float) -> None:
    """Raise ValueError if the tree of a model file has nodes that no model needs, or is too large.

    Parameters
    ----------
    archive : the opened model file
    max_bytes : largest size of its content, decompressed, and of all arrays that its nodes read
    """
    _check_size(sum(item.file_size for item in archive.infolist()), max_bytes)
    schema = json.loads(archive.read("schema.json"))
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if type(protocol) is not int or protocol < OLDEST:
        raise ValueError(f"protocol {protocol!r} where {OLDEST} or more is needed")
    tree = _Tree(archive)
    if tree.count(schema) > MOST_NODES:
        raise ValueError(f"more than {MOST_NODES:,} objects, counted as often as they are used")
    _check_size(tree.bytes, max_bytes)


def _check_size(size: float, max_bytes: float) -> None:
    if size > max_bytes:
        raise ValueError(f"{size / 2**20:.0f} MiB of content; pass max_bytes")


class _Tree:
    """The nodes of a schema: how many are visited, and how many bytes their arrays have.

    An object that is used in several places has one number, ``__id__``, and is visited again in
    each place: without a bound, a small file takes for ever.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive, self.bytes = archive, 0
        self.counts: dict[Any, int] = {}

    def count(self, value: Any) -> int:
        """Return the number of nodes in a part of the tree, and check each."""
        if isinstance(value, list):
            return sum(map(self.count, value))
        if not isinstance(value, dict):
            return 0
        below = sum(map(self.count, value.values()))
        loader = value.get("__loader__")
        if not isinstance(loader, str):  # a map of nodes
            return below
        other = loader == "LossNode" and value.get("__module__") not in LOSSES
        if loader not in LOADERS or other:
            raise UnsafeNodeError(value)
        number = value.get("__id__")
        if number not in self.counts or number is None:
            self.bytes += self._bytes(value)
        elif self.counts[number] != below + 1:
            raise ValueError(f"two objects with the number {number!r}")
        self.counts[number] = below + 1
        return below + 1

    def _bytes(self, node: dict[str, Any]) -> int:
        """Return the size of the member that a node reads; sparse matrices are archives again."""
        if "file" not in node:
            return 0
        size = self.archive.getinfo(node["file"]).file_size
        if node["__loader__"] == "SparseMatrixNode":
            with zipfile.ZipFile(io.BytesIO(self.archive.read(node["file"]))) as parts:
                size += sum(item.file_size for item in parts.infolist())
        return size


def check_objects(root: Any) -> None:
    """Raise ValueError if an array or a sparse matrix in an object cannot be computed with."""
    seen, todo = set(), [root]
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        if sp.issparse(thing):
            _check_sparse(thing)
        elif isinstance(thing, np.ndarray):
            _check_array(thing)
            todo += thing.tolist() if thing.dtype == object else []
        elif isinstance(thing, dict):
            todo += [*thing.keys(), *thing.values()]
        elif isinstance(thing, (list, tuple, set)):
            todo += thing
        else:
            todo += getattr(thing, "__dict__", {}).values()


def _check_sparse(matrix: Any) -> None:
    """Check a sparse matrix, of which a file may set every attribute."""
    known = vars(matrix)
    for name in known.keys() - {"_shape", "data", "indices", "indptr", "maxprint"}:
        del known[name]  # flags, and whatever would hide a method
    check_sparse_format(matrix)


def _check_array(array: np.ndarray) -> None:
    if array.size and not array.dtype.itemsize:
        raise ValueError(f"{array.size} elements of no size in an array")
