"""Zhang and Zhou (2010): methods, grids and protocols."""

import numpy as np
from sklearn.svm import SVC

import eigenlabel as el
from eigenlabel import catalogue
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.reproduce import get_table


def test_methods_with_gaussian_kernels_tune_every_width():
    tuned = catalogue.make("mddm:MDDM_f^k+MLkNN-rbf")
    assert tuned.estimator["projection"].projection.kernel == "rbf"
    assert {k: len(v) for k, v in tuned.param_grid.items()} == {
        "projection__projection__gamma": 5,
        "projection__projection__label_gamma": 5,
    }
    assert set(tuned.param_grid) <= set(tuned.estimator.get_params())
    widths = tuned.param_grid["projection__projection__gamma"]
    np.testing.assert_allclose(widths, [50, 5, 0.5, 0.05, 0.005])
    tuned = catalogue.make("mddm:MDDM_f^k+SVM-rbf")  # one width for projection and SVM
    assert {k: len(v) for k, v in tuned.kernel_grid.items()} == {
        "projection__projection__label_gamma": 5,
        "gamma": 5,
    }
    assert len(tuned.costs) == 5
    assert set(tuned.kernel_grid) <= set(tuned.kernel.get_params())
    for name in ("MLSI", "LPP", "SEL"):
        assert "projection" in catalogue.make(f"mddm:{name}+MLkNN-rbf").named_steps


def test_the_protocols_are_those_of_the_paper():
    text = get_table("mddm-table5").protocol()
    assert {(d.min_positives, d.min_documents, d.prepare) for d in text.data} == {(50, 5, "none")}
    assert [d.name for d in text.data] == [f"rcv1-{k}" for k in range(1, 6)]
    assert [d.options["n_features"] for d in text.data] == [47236] * 3 + [47229, 47235]
    images = get_table("mddm-table3")
    assert (images.splits.kind, images.splits.n_splits) == ("folds", 5)
    for number, least in ((3, 5), (4, 5), (9, 1), (10, 1)):
        table = get_table(f"mddm-table{number}")
        assert table.data["Corel5K image annotation"][0].min_positives == least
    assert not images.missing()


def test_the_twelve_tables_have_the_order_of_the_paper():
    titles = [get_table(f"mddm-table{n}").title.partition(": ")[2] for n in range(1, 13)]
    tasks = ("web pages", "image annotation", "text")
    first = [f"{task}, {base}" for task in tasks for base in ("MLkNN", "SVM")]
    assert titles == first + [f"{title}, label kernels" for title in first]


def test_every_projection_has_the_dimension_of_mddm_p():
    data = make_shared_subspace(120, 30, 20, random_state=0)
    X, Y = data.X * np.logspace(0, -2, 30), data.Y
    for ending in ("", "^k"):
        model = catalogue.make(f"mddm:MDDM_f{ending}+MLkNN").fit(X, Y)
        found = getattr(model, "best_estimator_", model)["projection"].projection_
        labels = {name: getattr(found, name) for name in ("label_kernel", "label_gamma")}
        expected = el.MDDM(**labels).fit(X, Y).n_components_
        own = el.MDDM(projection="uncorrelated", **labels).fit(X, Y).n_components_
        assert found.n_components_ == expected
        assert own > expected  # its own eigenvalues need more


def test_linear_svms_have_the_hinge_loss():
    data = make_shared_subspace(80, 12, 4, noise=1.0, random_state=0)
    model = catalogue.zhang_classifier("SVM").set_params(param_grid={"svm__C": [1.0]})
    found = model.fit(data.X, data.Y).decision_function(data.X)
    for j, t in enumerate(data.Y.T):
        alone = SVC(kernel="linear").fit(data.X, t).decision_function(data.X)
        np.testing.assert_allclose(found[:, j], alone, atol=1e-2)  # LIBSVM's tolerance
    assert catalogue.zhang_classifier("SVM").param_grid["svm__C"].tolist() == [
        *(0.01, 0.1, 1.0, 10.0, 100.0)
    ]
    squared = catalogue.make("mddm:PCA+SVM-squared")["classifier"]
    assert squared.estimator.estimator.loss == "squared_hinge"


def test_the_label_kernel_compares_binary_columns():
    projection = catalogue.zhang_projection("MDDM_p^k")
    assert projection.label_kernel == "rbf"
    revisions = {
        name: catalogue.METHODS[f"mddm:{name}"].revision
        for name in ("MDDM_p^k+MLkNN", "MDDM_f^k+SVM-rbf", "PCA+SVM", "PCA+MLkNN", "PCA+SVM-rbf")
    }
    assert list(revisions.values()) == [2, 6, 3, 1, 5]
