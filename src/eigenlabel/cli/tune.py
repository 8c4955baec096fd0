"""``eigenlabel tune``: a model or a blend tuned on a data file, its bound and its page."""

import argparse
import sys
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from eigenlabel import (
    MultilabelBlend,
    SharedSubspaceClassifierCV,
    ThresholdedClassifier,
    thresholds,
)
from eigenlabel.cli.bounds import bound_section, describe, measure_bound, tuned_part
from eigenlabel.cli.data_files import check_output, dense
from eigenlabel.cli.fit_and_predict import add_fitting_options, print_fit, train
from eigenlabel.cli.options import (
    Command,
    UsageError,
    duration,
    folds,
    integers,
    numbers,
    risk,
    seed,
    share,
)
from eigenlabel.cli.pages import model_sections, write_page
from eigenlabel.datasets import Dataset
from eigenlabel.model_selection.scorers import COMPUTABLE
from eigenlabel.persistence import SavedModel

EFFORTS = {
    "quick": "one tuned shared-subspace model",
    "good": "a blend of several kinds of models",
    "best": "a blend of all members that suit the data, with ten folds",
}
FOLDS = {"quick": 5, "good": 5, "best": 10}
ONE_MODEL = ("alphas", "betas", "dimensions", "scoring", "kernel", "gamma")  # options of quick


def _add_options(tune: argparse.ArgumentParser) -> None:
    add_fitting_options(tune)
    tune.add_argument("--report", metavar="PAGE", help="write an HTML page to this file")
    efforts = "; ".join(f"{name}: {what}" for name, what in EFFORTS.items())
    tune.add_argument(
        "--effort", choices=EFFORTS, help=f"{efforts} (default quick, or good with --time)"
    )
    tune.add_argument(
        "--time",
        type=duration,
        metavar="TIME",
        help="time for a blend, such as 90s, 10m or 1h: members that would take longer are left "
        "out",
    )
    tune.add_argument(
        "--cv",
        type=folds,
        metavar="K",
        help="number of folds (default 5; 10 with --effort best)",
    )
    _add_model_options(tune)
    _add_decision_options(tune)


def _add_model_options(tune: argparse.ArgumentParser) -> None:
    """Add the options of a single model."""
    tune.add_argument(
        "--alphas", type=numbers, metavar="A,B,...", help="values of alpha (0, 9 beta, inf)"
    )
    tune.add_argument(
        "--betas",
        type=numbers,
        metavar="A,B,...",
        help="values of beta (1e-6 to 1 times the variance of the samples)",
    )
    tune.add_argument(
        "--dimensions",
        type=integers,
        metavar="R,S,...",
        help="numbers of shared components (by default they follow the rule of the papers)",
    )
    tune.add_argument(
        "--scoring",
        choices=COMPUTABLE,
        default="f1_macro",
        metavar="METRIC",
        help=f"the metric to optimise: {', '.join(COMPUTABLE)} (default f1_macro)",
    )
    tune.add_argument("--kernel", default="linear", help="linear, rbf, poly, ... (default linear)")
    tune.add_argument(
        "--gamma",
        type=float,
        help="coefficient of the rbf kernel (default 1 / (2 mean distance^2))",
    )


def _add_decision_options(tune: argparse.ArgumentParser) -> None:
    """Add the options that turn scores into label sets."""
    decision = tune.add_mutually_exclusive_group()
    decision.add_argument(
        "--threshold",
        default="mixed",
        choices=(*thresholds.RULES, *thresholds.PROBABILITY_RULES),
        help="rule of the decision thresholds (default mixed)",
    )
    bounds = "bound on new samples: recall=0.9, false_discovery=0.1 or precision=0.9"
    decision.add_argument("--risk", type=risk, metavar="BOUND", help=bounds)
    tune.add_argument(
        "--risk-split",
        type=share,
        metavar="SHARE",
        help="share of the samples, such as 0.3, that is kept aside for --risk, so that its bound "
        "is exact; the model is fitted to the others (default: cross-validated probabilities of "
        "all samples, with which it is approximate)",
    )
    tune.add_argument(
        "--seed",
        type=seed,
        default=0,
        help="seed of a blend, and of the samples that --risk-split keeps aside (default 0)",
    )


def _keep_aside(arguments: argparse.Namespace, prepare: Any, method: Any) -> Any:
    """Return the preparation and the method, around which samples are kept aside for a bound."""
    return ThresholdedClassifier(
        make_pipeline(prepare, method),
        strategy=arguments.risk,
        calibration=None,  # the probabilities are those of the method
        split=arguments.risk_split,
        random_state=arguments.seed,
    )


def _effort(arguments: argparse.Namespace) -> str:
    """Return the effort, and raise UsageError if an option does not belong to it."""
    effort = arguments.effort or ("quick" if arguments.time is None else "good")
    given = vars(arguments).get("given", {})
    if effort == "quick" and arguments.time is not None:
        raise UsageError("--time needs a blend: use --effort good or --effort best")
    strange = [given[name] for name in ONE_MODEL if name in given]
    if effort != "quick" and strange:
        raise UsageError(
            f"{strange[0]} is an option of a single model: use --effort quick, or leave it out"
        )
    return effort


def _make_model(arguments: argparse.Namespace, effort: str) -> Any:
    """Return the model of an effort, which is not fitted."""
    apart = arguments.risk_split is not None
    threshold = arguments.threshold if apart else arguments.risk or arguments.threshold
    cv = arguments.cv or FOLDS[effort]
    if effort == "quick":
        return SharedSubspaceClassifierCV(
            arguments.alphas,
            arguments.betas,
            arguments.dimensions,
            cv=cv,
            scoring=arguments.scoring,
            threshold=threshold,
            kernel=arguments.kernel,
            gamma=arguments.gamma,
        )
    return MultilabelBlend(
        "all" if effort == "best" else "auto",
        prepare="none",  # --prepare has done it
        time_budget=arguments.time,
        threshold=threshold,
        cv=cv,
        random_state=arguments.seed,
        verbose=int(sys.stderr.isatty()),
    )


def _tune(arguments: argparse.Namespace) -> None:
    check_output(arguments.report, arguments.data, arguments.output)
    if arguments.risk_split is not None and arguments.risk is None:
        raise UsageError("--risk-split needs a bound: add --risk, such as --risk recall=0.9")
    model = _make_model(arguments, _effort(arguments))
    apart = arguments.risk_split is not None
    assemble = partial(_keep_aside, arguments) if apart else make_pipeline
    saved, data, seconds = train(arguments, model, assemble)
    tuned = tuned_part(saved.model)
    print(_describe(tuned))
    bound = measure_bound(saved.model, data.X, dense(data.Y))
    if bound is not None:
        print(describe(bound))
    print_fit(saved, seconds, arguments.output)
    if arguments.report:
        shown = [] if bound is None else [bound_section(bound)]
        used = _samples_used(saved, data)
        write_page(
            f"Tuned on {data.source}",
            [*shown, *model_sections(tuned, used, seconds, saved)],
            arguments.report,
            arguments,
            subtitle=f"{used.X.shape[0]} samples, {data.X.shape[1]} features, "
            f"{data.Y.shape[1]} labels; {_headline(tuned)}",
        )


def _headline(tuned: Any) -> str:
    """Return the held-out figure of a model in a few words."""
    if isinstance(tuned, MultilabelBlend):
        return f"held-out macro F1 {tuned.leaderboard_[0]['f1_macro']:.4f}"
    return f"held-out {tuned.scoring} {tuned.best_score_:.4f}"


def _describe(tuned: Any) -> str:
    """Return what was found: the leaderboard of a blend, or the best point of a grid."""
    if isinstance(tuned, MultilabelBlend):
        return f"held-out figures:\n{tuned.leaderboard_}"
    points = len(tuned.cv_results_["params"])
    return f"held-out {tuned.scoring}: {tuned.best_score_:.4f}, best of {points} grid points"


def _samples_used(saved: SavedModel, data: Dataset) -> Dataset:
    """Return the samples that a model was fitted to, without those that were kept aside."""
    aside = getattr(saved.model, "aside_", None)
    if aside is None:
        return data
    return data.subset(samples=np.setdiff1d(np.arange(data.X.shape[0]), aside))


TUNE = Command(_add_options, _tune)
