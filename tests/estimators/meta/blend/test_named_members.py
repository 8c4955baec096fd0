import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from eigenlabel import MultilabelBlend


def test_parameters_of_members_have_their_names():
    model = MultilabelBlend(["linear", ("own", LogisticRegression(C=2.0))])
    assert model.get_params()["own__C"] == 2.0
    assert "own__C" not in model.get_params(deep=False)
    model.set_params(own__C=3.0, cv=4)
    assert (model.members[1][1].C, model.cv) == (3.0, 4)
    model.set_params(own=RidgeClassifier(), own__alpha=0.5)
    assert model.members[0] == "linear"
    assert (model.members[1][0], model.members[1][1].alpha) == ("own", 0.5)


def test_a_member_cannot_have_the_name_of_a_parameter():
    X, Y = np.eye(20), np.eye(2, dtype=int)[[0, 1] * 10]
    with pytest.raises(ValueError, match="'cv' is a parameter of the blend: call the member"):
        MultilabelBlend([("cv", LogisticRegression())]).fit(X, Y)
