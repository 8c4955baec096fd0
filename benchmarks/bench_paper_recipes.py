"""The tuned recipes of the papers beside scikit-learn's own searches of the same models.

Processor time on the first split of Arts (1,000 pages, 19 labels), with parts of the grids.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from _common import finish, interleaved, load_yahoo
from eigenlabel import CCA, OneVsRestSearchCV
from eigenlabel.experiment.grid_search import LastFits, search
from eigenlabel.reproduce.hinge_svms import HingeSVMs
from eigenlabel.reproduce.projection_search import ProjectionSearchCV, with_training_thresholds

PENALTIES = [1e-3, 1e-1, 10.0]
COSTS = [1e-2, 1.0, 100.0]


def grid_search(after, grid):
    """Return a search of a pipeline, as scikit-learn does it."""
    steps = Pipeline([("projection", CCA()), ("then", after)], memory=LastFits())
    names = {f"estimator__then__{name}": values for name, values in grid.items()}
    grid = {"estimator__projection__reg": PENALTIES, **names}
    return search(with_training_thresholds(steps), grid)


def main(quick):
    warnings.simplefilter("ignore")
    X, Y = load_yahoo("Arts")
    K = np.ascontiguousarray((X @ X.T).toarray())
    ridge, svm, costs = RidgeClassifier(), SVC(kernel="linear", max_iter=100_000), {"C": COSTS}
    alphas = {"alpha": [1e-3, 1e-1, 1.0]}
    ours = {
        "CCA+Ridge": ProjectionSearchCV(CCA(), ridge, PENALTIES, alphas),
        "CCA+SVM": ProjectionSearchCV(CCA(), HingeSVMs(max_iter=100_000), PENALTIES, costs),
        "SVM": OneVsRestSearchCV(HingeSVMs(kernel="precomputed"), costs, calibration=None),
    }
    theirs = {
        "CCA+Ridge": grid_search(ridge, alphas),
        "CCA+SVM": grid_search(OneVsRestClassifier(svm), {"estimator__C": COSTS}),
        "SVM": OneVsRestSearchCV(SVC(kernel="precomputed"), costs, calibration=None),
    }
    calls = {}
    for name, model in ours.items():
        data = K if name == "SVM" else X
        calls[name, "ours"] = lambda m=model, A=data: m.fit(A, Y)
        calls[name, "scikit-learn"] = lambda m=theirs[name], A=data: m.fit(A, Y)
    times = interleaved(calls, 1 if quick else 3, time.process_time)
    lines = ["| method | scikit-learn, s | ours, s | ratio |", "|---|---|---|---|"]
    figures = {}
    for name in ours:
        a, b = (float(np.median(times[name, who])) for who in ("scikit-learn", "ours"))
        figures[name] = round(a / b, 2)
        lines.append(f"| {name} | {a:.2f} | {b:.2f} | {a / b:.1f} |")
    finish("paper_recipes", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one repeat")
    main(parser.parse_args().quick)
