"""Exported models, run by onnxruntime and compared with the models themselves."""

import json

import numpy as np
import pytest

import eigenlabel as el
from eigenlabel.labels.label_sets import label_matrix

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")


def session(path):
    """Return a session with one thread."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(path, X):
    """Return the outputs of a file by name."""
    loaded = session(path)
    names = [output.name for output in loaded.get_outputs()]
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return dict(zip(names, loaded.run(names, {"X": X.astype(float)}), strict=True))


def notes(path):
    """Return the metadata of a file, with names as lists."""
    found = session(path).get_modelmeta().custom_metadata_map
    lists = ("feature_names", "label_names")
    return {key: json.loads(value) if key in lists else value for key, value in found.items()}


def check_equal(model, X, path, *, rtol=1e-9, **options):
    """Export a model and compare its outputs with those of the model, also of a single sample.

    Scores are equal up to rtol times the largest one, and probabilities up to 1e-6 as the
    documentation promises, or to rtol if that is less. Labels are equal but where a score is at
    its threshold, which these data never are.
    """
    el.export_onnx(model, path, **options)
    expected = model.decision_function(X)
    size = np.abs(expected).max()
    for rows in (slice(None), slice(0, 1)):
        found = run(path, X[rows])
        if "scores" in found:
            np.testing.assert_allclose(found["scores"], expected[rows], rtol=0, atol=rtol * size)
        if "probabilities" in found:
            P = model.predict_proba(X[rows])
            np.testing.assert_allclose(found["probabilities"], P, rtol=0, atol=max(rtol, 1e-9))
        if "labels" in found:
            decided = model.predict(X[rows])
            if isinstance(decided, list):
                decided = label_matrix(decided, model.classes_)
            decided = decided.toarray() if hasattr(decided, "toarray") else np.asarray(decided)
            np.testing.assert_array_equal(found["labels"], decided)
    return found
