"""Small protocols, figures and records that several test files use."""

from dataclasses import replace

from eigenlabel import SharedSubspaceClassifier
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.experiment import Data, Method, Protocol, Splits
from eigenlabel.reproduce import Curves

VOLATILE = ("seconds", "cpu_seconds", "peak_mib")

VIEWS = {"left": slice(0, 4), "right": slice(4, 10)}


def planted(seed=0, n=120):
    return make_shared_subspace(n, 8, 5, 2, prevalence=0.3, random_state=seed)


def small_data(seed):
    return make_shared_subspace(60, 6, 4, 2, prevalence=0.3, random_state=seed)


def planted_views(seed=0, n=90):
    data = make_shared_subspace(n, 10, 8, 3, prevalence=0.3, noise=0.1, random_state=seed)
    return replace(data, views=VIEWS)


def small_protocol(**changes):
    protocol = Protocol(
        [Data("one", planted(0)), Data("two", planted(1))],
        [Method("ridge", parameters={"betas": [0.1, 1.0]}), Method("linear-svm-plain")],
        Splits("shuffle", 3),
        name="small",
    )
    return replace(protocol, **changes)


def stable(records):
    return [{k: v for k, v in r.items() if k not in VOLATILE} for r in records]


def record(data, method, split, **metrics):
    return {"data": data, "method": method, "split": split, "metrics": metrics}


def small_figure(y="hamming_loss"):
    data = {k: Data(f"planted {k}", small_data(k)) for k in range(3)}
    points = {
        (curve, str(r)): Method(f"{curve} @ {r}", SharedSubspaceClassifier(n_components=r))
        for curve, r in (("a", 1), ("a", 2), ("b", 2))
    }
    panels = {"two": (data[0], data[1]), "one": (data[2],)}
    return Curves("f", "F", "r", y, points, panels, Splits("shuffle", 2))
