"""Saving and loading of models, without running code that a file names."""

import io
import math
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import skops.io

from eigenlabel import __version__
from eigenlabel.datasets import DataError
from eigenlabel.datasets.files.atomic import writing
from eigenlabel.datasets.files.decompression import check_file
from eigenlabel.linalg.machine import memory_limit
from eigenlabel.persistence.archive import (
    Stamp,
    UnsafeNodeError,
    check_objects,
    check_schema,
    read_schema,
    read_stamp,
)
from eigenlabel.persistence.content import SavedModel, from_content, to_content, with_names
from eigenlabel.persistence.types import refused_types, type_names, types_to_trust, untrusted

# The form of model files. It grows whenever a class in them moves or changes its attributes, so
# that files of other versions are recognised.
FORM = 3


def save_model(saved: Any, path: Any, *, trusted: Iterable[Any] = ()) -> None:
    """Write a model to a file with skops. A failure leaves no partial file.

    Parameters
    ----------
    saved : SavedModel or estimator
        The model. A fitted estimator is saved with the names of its features if it knows them;
        otherwise features and labels are numbered from 0.
    path : str or Path
        The file to write.
    trusted : list of classes or str, default=()
        Types of your own that the model holds, such as a threshold rule, or their full names.
        :func:`load_model` needs the same list.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from eigenlabel import SharedSubspaceClassifier
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.persistence import SavedModel, load_model, save_model
    >>> data = make_shared_subspace(random_state=0)
    >>> model = SharedSubspaceClassifier().fit(data.X, data.Y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.skops"
    >>> save_model(SavedModel(model, data.feature_names, data.label_names), path)
    >>> again = load_model(path)
    >>> bool((again.model.predict(data.X) == model.predict(data.X)).all())
    True
    """
    saved = saved if isinstance(saved, SavedModel) else with_names(saved)
    content = {"eigenlabel": FORM, "version": __version__, **to_content(saved)}
    from_content(content)  # a model that cannot be loaded is not written
    data = skops.io.dumps(content)
    try:
        _check(Path(path), io.BytesIO(data), math.inf, type_names(trusted))
    except UnsafeNodeError as error:
        raise DataError(
            Path(path),
            f"a model with {error.type_name} cannot be saved, because a changed file could make "
            "such an object read the memory of other objects or run other code. Use an estimator "
            "without it, for instance a linear model instead of one with trees.",
        ) from error
    with writing(path) as stream:
        stream.write(data)


def load_model(
    path: Any, *, max_bytes: int | None = None, trusted: Iterable[Any] = ()
) -> SavedModel:
    """Read a model from a file.

    Everything in the file is checked before it is used: the version that wrote it, the types of its
    objects, the sparse matrices among them, and the names of features and labels. A file that fails
    a check, is damaged or is too large raises DataError. A type is imported only if it belongs to
    eigenlabel, scikit-learn or numpy and is known to be harmless, or if ``trusted`` names it.

    Parameters
    ----------
    path : str or Path
        The model file.
    max_bytes : int, default=None
        Upper bound on the decompressed size of the content. It is a quarter of the memory of the
        machine by default.
    trusted : list of classes or str, default=()
        Types of your own that may be loaded: classes, or full names such as "my_rules.Quantile".
        Loading imports their modules, so name only code that you know.

    Returns
    -------
    SavedModel
        The model and the names of its columns.
    """
    path = Path(path)
    check_file(path)
    limit = memory_limit() / 4 if max_bytes is None else max_bytes
    names = type_names(trusted)
    try:
        types = _check(path, path, limit, names)
        content = skops.io.load(path, trusted=types)
        check_objects(content)
        return from_content(content)
    except DataError:
        raise
    except Exception as error:  # damaged files fail in many ways
        raise DataError(path, f"not a model file, or damaged ({error})") from error


def _check(path: Path, file: Path | io.BytesIO, max_bytes: float, trusted: set[str]) -> list[str]:
    """Check a file as far as possible without loading it; return the types to trust."""
    try:
        with zipfile.ZipFile(file) as archive:
            schema = read_schema(archive, max_bytes)
            stamp = _check_stamp(path, read_stamp(schema))
            check_schema(schema, archive, max_bytes)
        unknown = types_to_trust(file)
    except (DataError, UnsafeNodeError):
        raise
    except Exception as error:
        raise DataError(path, f"not a model file, or damaged ({error})") from error
    refused = refused_types(unknown, trusted)
    if stamp.version != __version__ and any(n.startswith("eigenlabel.") for n in refused):
        raise _other_version(path, stamp)
    if refused:
        raise untrusted(path, refused)
    return unknown


def _check_stamp(path: Path, stamp: Stamp | None) -> Stamp:
    """Raise DataError unless the file is a model file of the form that this version writes."""
    if stamp is None:
        raise DataError(path, "not a model file of eigenlabel")
    if stamp.form != FORM:
        raise _other_version(path, stamp)
    return stamp


def _other_version(path: Path, stamp: Stamp) -> DataError:
    writer = f"eigenlabel {stamp.version}" if stamp.version else "another version of eigenlabel"
    return DataError(
        path,
        f"was saved by {writer}, and eigenlabel {__version__} cannot read it; fit the model "
        f"again, or install {writer if stamp.version else 'the version that saved it'}",
    )
