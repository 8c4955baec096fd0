"""Label sets in ONNX against those of the rules."""

import numpy as np
import pytest

from eigenlabel.export.graph import ExportError, Graph, Value
from eigenlabel.export.label_sets import Classes, decided
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.thresholds import Between, Costs, ExpectedF1, Top
from eigenlabel.thresholds.rules import Mixed
from export.test_kernel_values import evaluate
from onnx_runs import runtime

CUTS = np.array([0.5, -np.inf, np.inf, 0.2])


@pytest.mark.parametrize(
    "rule",
    [Mixed(), Costs(), Top(1), Top(3), Top(9), Top(0), Between(1), Between(0, 2), Between(2, 2)],
    ids=repr,
)
@pytest.mark.parametrize("cuts", [CUTS, np.full(4, 0.5)], ids=["some never observed", "all"])
def test_label_sets_are_those_of_the_rule(rng, rule, cuts):
    P = rng.random((50, 4))
    P[0] = 0.5, 0.9, 0.9, 0.9  # the first of equal labels wins
    graph = Graph()
    labels = decided(graph, rule, Value("X", 4), cuts)
    found = evaluate(graph, Value(graph.to_double(labels.name), 4), P)
    np.testing.assert_array_equal(found, rule.decide(P, cuts))


def test_a_rule_without_a_form_says_what_to_do():
    with pytest.raises(ExportError, match=r"ExpectedF1.*outputs=\('probabilities', 'scores'\)"):
        decided(Graph(), ExpectedF1(), Value("X", 3), np.nan)


@pytest.mark.parametrize(
    ("kind", "classes", "width"),
    [
        ("binary", ["no", "yes\n\x00é\"'"], 1),
        ("binary", [7], 1),
        ("binary", [False, True], 1),
        ("multiclass", [3, 5, 9], 3),
        ("multiclass", [0.5, 1.5, 2.5], 3),
    ],
)
def test_classes_keep_their_type(rng, kind, classes, width):
    codec, scores = LabelCodec(kind, np.array(classes)), rng.standard_normal((20, width))
    graph = Graph()
    made = Classes(graph, codec.classes)
    graph.rename(made.predicted(codec, Value("X", width)), "out")
    info = graph.onnx.helper.make_tensor_value_info
    double = graph.onnx.TensorProto.DOUBLE
    proto = graph.make([info("X", double, ["n", width])], [info("out", made.type, ["n"])], {})
    ready = runtime.InferenceSession(proto.SerializeToString())
    found = ready.run(None, {"X": scores})[0]
    assert found.tolist() == codec.decide(scores).tolist()
