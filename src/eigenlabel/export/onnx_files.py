"""Write a fitted model as an ONNX file, checked against the model itself."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from eigenlabel import __version__
from eigenlabel.datasets.files.atomic import writing
from eigenlabel.export.graph import ExportError, Graph, Value
from eigenlabel.export.predictions import OUTPUTS, Predictions, has_probabilities, predictions
from eigenlabel.export.transformers import ADVICE
from eigenlabel.inputs.frames import make_frame
from eigenlabel.inputs.warning import ignored
from eigenlabel.inspection.affine_transformers import trials
from eigenlabel.linalg._types import Floats
from eigenlabel.persistence.models import SavedModel

INPUT, ROWS = "X", "n_samples"  # names in the file
CLOSE = 1e-7  # share of the largest score by which trial samples may differ


def export_onnx(model: Any, path: Any, *, outputs: Sequence[str] | None = None) -> None:
    """Write a fitted model as an ONNX file, which predicts without Python.

    The file has the input ``X``, samples of type double with shape (n_samples, n_features), and
    the outputs

    * ``labels``: the label matrix of 0 and 1, of type int64, or the classes of a vector y;
    * ``probabilities``: what ``predict_proba`` returns;
    * ``scores``: what ``decision_function`` returns.

    The names of features and labels are stored as JSON in the metadata ``feature_names`` and
    ``label_names``. All numbers are computed in double precision, so that results differ from
    those of Python by rounding only. Before the file is written, both predict some trial samples,
    and an error is raised if they differ.

    Models that are linear in features or in kernel values can be exported, with thresholds and
    calibration: the shared-subspace classifiers with every named kernel, MtSDA, ASO, SVM-perf,
    KGHA and FastTag of one matrix, one-vs-rest of linear classifiers, projections before any of
    them, and blends of such members. Pipelines may start with scalers, imputers, selectors,
    projections, ``Normalizer`` or ``TfidfTransformer``. Texts and tables of mixed columns must be
    prepared outside.

    Parameters
    ----------
    model : classifier, Pipeline or SavedModel
        The fitted model. A :class:`eigenlabel.persistence.SavedModel` brings its own names.
    path : str or Path
        The file to write, such as "model.onnx".
    outputs : sequence of str, default=None
        The outputs of the file, some of "labels", "probabilities" and "scores". None is all that
        the model has.

    Raises
    ------
    TypeError
        If a part of the model has no form in ONNX. The message names it.
    MemoryError
        If the arrays of the model need more than 2 GiB, which no ONNX file can contain.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import eigenlabel as el
    >>> data = el.datasets.make_shared_subspace(random_state=0)
    >>> model = el.SharedSubspaceClassifier(calibration="sigmoid").fit(data.X, data.Y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.onnx"
    >>> el.export_onnx(model, path)
    >>> path.exists()
    True
    """
    saved = model if isinstance(model, SavedModel) else None
    fitted = model.model if isinstance(model, SavedModel) else model
    check_is_fitted(fitted)
    wanted = _check_outputs(outputs, fitted)
    graph = Graph()
    X = Value(INPUT, _count_features(fitted, saved))
    found = predictions(graph, fitted, X, wanted)
    proto = graph.make(
        [_info(graph, INPUT, graph.onnx.TensorProto.DOUBLE, [ROWS, X.width])],
        _name_outputs(graph, found, wanted),
        _notes(fitted, saved, found, X.width),
    )
    graph.onnx.checker.check_model(proto)
    _compare(proto, fitted, X.width, wanted)
    with writing(path) as stream:
        stream.write(proto.SerializeToString())


def _check_outputs(outputs: Sequence[str] | None, model: Any) -> list[str]:
    """Return the outputs in their order; None is all that the model has."""
    if outputs is None:
        return [name for name in OUTPUTS if name != "probabilities" or has_probabilities(model)]
    given = [outputs] if isinstance(outputs, str) else list(outputs)
    strange = [name for name in given if name not in OUTPUTS]
    if strange or not given:
        raise ValueError(
            f"outputs must be some of {', '.join(map(repr, OUTPUTS))}, got {outputs!r}."
        )
    return [name for name in OUTPUTS if name in given]


def _count_features(model: Any, saved: SavedModel | None) -> int:
    """Return the number of columns that the model reads."""
    if saved is not None:
        return len(saved.feature_names)
    width = getattr(model, "n_features_in_", None)
    if width is None:
        first = model.steps[0][1] if isinstance(model, Pipeline) else model
        raise ExportError(f"{type(first).__name__} does not read a matrix of numbers. {ADVICE}")
    return int(width)


def _info(graph: Graph, name: str, kind: int, shape: list[Any]) -> Any:
    return graph.onnx.helper.make_tensor_value_info(name, kind, shape)


def _name_outputs(graph: Graph, found: Predictions, wanted: list[str]) -> list[Any]:
    """Rename the results that are wanted; return their names, types and shapes."""
    double, infos = graph.onnx.TensorProto.DOUBLE, []
    vector = not found.codec.multilabel
    for name in wanted:
        if name == "labels":
            assert found.labels is not None
            inner, kind = found.labels, found.label_type
            shape = [ROWS] if vector else [ROWS, found.scores.width]
        elif name == "probabilities":
            assert found.probabilities is not None
            inner, kind = found.probabilities.name, double
            shape = [ROWS, found.probabilities.width]
        else:
            inner, kind, shape = found.scores.name, double, [ROWS, found.scores.width]
            if found.codec.kind == "binary":
                inner, shape = graph.add("Squeeze", inner, graph.integers([1])), [ROWS]
        graph.rename(inner, name)
        infos.append(_info(graph, name, kind, shape))
    return infos


def _notes(model: Any, saved: SavedModel | None, found: Predictions, width: int) -> dict[str, str]:
    """Return the names of columns, and the origin of the file."""
    features: Any = getattr(model, "feature_names_in_", np.arange(width))
    labels = found.codec.classes
    if saved is not None:
        features = saved.feature_names
        if found.codec.multilabel:
            labels = saved.label_names
    return {
        "feature_names": json.dumps([str(name) for name in features]),
        "label_names": json.dumps([str(name) for name in labels]),
        "model": type(model).__name__,
        "eigenlabel": __version__,
    }


def _compare(proto: Any, model: Any, width: int, wanted: list[str]) -> None:
    """Raise ExportError unless the file scores trial samples as the model does."""
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415 - only the export needs it

    X = trials(width)
    names = getattr(model, "feature_names_in_", None)
    given: Any = X
    if names is not None and _selects_by_name(model):
        given = make_frame(dict(zip(map(str, names), X.T, strict=True)), "pandas")
    numbers = [name for name in wanted if name != "labels"]
    if not numbers:
        return
    found = ReferenceEvaluator(proto).run(numbers, {INPUT: X})
    methods = {"scores": "decision_function", "probabilities": "predict_proba"}
    with ignored(UserWarning):  # the samples have no names
        for name, values in zip(numbers, found, strict=True):
            expected = np.asarray(getattr(model, methods[name])(given))
            _check_close(name, values, expected)


def _selects_by_name(model: Any) -> bool:
    """Return True if a pipeline starts with a ColumnTransformer, which may need a frame."""
    return isinstance(model, Pipeline) and hasattr(model.steps[0][1], "transformers_")


def _check_close(name: str, found: Floats, expected: Floats) -> None:
    single = expected.dtype == np.float32
    size = float(np.abs(expected).max(initial=0.0)) if name == "scores" else 1.0
    tolerance = (1e4 if single else 1.0) * CLOSE * size
    if found.shape == expected.shape and np.abs(found - expected).max(initial=0.0) <= tolerance:
        return
    raise ExportError(
        f"the {name} of the file differ from those of the model on trial samples, so that it was "
        "not written. Please report this with the output of eigenlabel.show_versions()."
    )
