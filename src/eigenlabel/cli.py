"""The command line: words in, calls out, an exit code; no mathematics.

Exit codes: 0 done, 1 failed, 2 called wrongly.
"""

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from eigenlabel import SharedSubspaceClassifierCV, __version__, metrics
from eigenlabel.datasets import make_shared_subspace

FIGURES = ("f1_macro", "f1_micro", "auc_macro", "ranking_loss")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="eigenlabel",
        description="Multi-label learning through the subspace that labels share.",
    )
    parser.add_argument("--version", action="version", version=f"eigenlabel {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="tune and fit on planted data whose answer is known, beside one-vs-rest",
        description="Draw labels that share a known subspace, tune a model on them, and show how "
        "well it predicts and whether it found the subspace. Takes a few seconds.",
    )
    demo.add_argument("--samples", type=int, default=1500, help="samples to draw (default 1500)")
    demo.add_argument("--labels", type=int, default=40, help="labels to draw (default 40)")
    demo.add_argument("--seed", type=int, default=0, help="random seed (default 0)")
    demo.set_defaults(run=_demo)
    return parser


def _demo(arguments: argparse.Namespace) -> None:
    r = 4
    data = make_shared_subspace(
        arguments.samples, 200, arguments.labels, r, noise=0.5, random_state=arguments.seed
    )
    half = arguments.samples // 2
    X, Y, X_new, Y_new = data.X[:half], data.Y[:half], data.X[half:], data.Y[half:]
    dimensions = [k for k in (1, 2, 3, 4, 6, 10, 20) if k <= Y.shape[1]]
    tuned = SharedSubspaceClassifierCV(n_components=dimensions)
    print(f"{data!r}, seed {arguments.seed}")
    print(f"Half to learn from, half to predict; {72 * len(dimensions)} settings, 5 folds each.\n")
    rivals = {
        "one-vs-rest logistic, defaults": OneVsRestClassifier(LogisticRegression(max_iter=1000)),
        "shared subspace, tuned": tuned,
    }
    print(f"{'':33}" + "".join(f"{name:>14}" for name in (*FIGURES, "seconds")))
    for name, model in rivals.items():
        start = time.perf_counter()
        model.fit(X, Y)
        seconds = time.perf_counter() - start
        found = metrics.evaluate(Y_new, model.decision_function(X_new), model.predict(X_new))
        cells = [found[figure] for figure in FIGURES]
        print(f"{name:33}" + "".join(f"{v:14.3f}" for v in cells) + f"{seconds:14.1f}", flush=True)
    chosen = tuned.best_params_
    print(
        f"\nChosen: alpha {chosen['alpha']:g}, beta {chosen['beta']:g}, "
        f"shared dimension {chosen['n_components']} (planted: {r})."
    )
    cosines = np.linalg.svd(tuned.components_ @ data.truth["components"].T, compute_uv=False)
    print(f"Cosines between the planted subspace and the one found: {_row(cosines)}")
    print("Eigenvalues, what the features can say of each combination of labels:")
    top = tuned.eigenvalues_[:8]
    for k, value in enumerate(top):
        print(f"  {k + 1:2} {'#' * round(50 * value / top[0])}")
    print("\nThe labels that weigh most in each of the first eigenlabels:")
    for k in range(min(3, tuned.n_components_)):
        loading = tuned.eigenlabels_[:, k]
        strongest = np.argsort(-np.abs(loading))[:4]
        words = (f"{data.label_names[j]} {loading[j]:+.2f}" for j in strongest)
        print(f"  {k + 1}: {', '.join(words)}")


def _row(values: np.ndarray) -> str:
    return " ".join(f"{v:.3f}" for v in values)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    try:
        parsed = _parser().parse_args(arguments)
        parsed.run(parsed)
    except SystemExit as stop:  # argparse: help, version, or a wrong call
        return int(stop.code or 0)
    except (ValueError, OSError, MemoryError) as error:
        print(f"eigenlabel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
