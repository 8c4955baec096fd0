"""Whether ``time_budget`` is kept: wall time of ``fit`` for several budgets and forms of data.

The forms are a table, texts and tall data of samples that are drawn from a linear model, with the
default members and with a classifier of the user that would take far longer than any budget. An
overrun of a tenth of the budget, or of a second, is what MultilabelBlend states. The time of the
linear model, which is always fitted, is printed beside it.
"""

import argparse
import time
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import RidgeClassifier

from _common import finish
from eigenlabel import MultilabelBlend

FORMS = {
    "table": (1500, 100, 20, None),
    "texts": (3000, 10_000, 30, 40),
    "tall table": (30_000, 40, 10, None),
}


class Slow(RidgeClassifier):
    """A classifier whose fit takes ten minutes."""

    def fit(self, X, y):
        time.sleep(600)
        return super().fit(X, y)


def make(n, d, m, stored):
    rng = np.random.default_rng(0)
    if stored is None:
        X = rng.standard_normal((n, d))
    else:
        columns = rng.integers(0, d, n * stored)
        X = sp.csr_array((rng.random(n * stored), columns, np.arange(0, n * stored + 1, stored)))
        X.sum_duplicates()
    scores = X @ rng.standard_normal((X.shape[1], m))
    scores += 0.5 * scores.std() * rng.standard_normal(scores.shape)
    return X, (scores > np.quantile(scores, 0.9, axis=0)).astype(int)


def run(X, Y, seconds, slow):
    members = ["linear", "forest", "neighbours", ("slow", Slow())] if slow else "auto"
    model = MultilabelBlend(members, time_budget=seconds, random_state=0)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, Y)
    spent = time.perf_counter() - started
    linear = next(row["seconds"] for row in model.leaderboard_ if row["name"] == "linear")
    return {
        "spent": round(spent, 2),
        "linear": round(linear, 2),
        "members": " ".join(model.members_),
        "kept": bool(spent <= max(seconds, linear) + max(1.0, 0.1 * seconds)),
    }


def main(budgets):
    lines = ["| data | budget | wall time | linear model | members | kept |", "|---" * 6 + "|"]
    found = {}
    for form, sizes in FORMS.items():
        X, Y = make(*sizes)
        for slow in (False, True):
            for seconds in budgets if not slow else budgets[:1]:
                name = f"{form}, slow member" if slow else form
                row = run(X, Y, seconds, slow)
                found[f"{name}, {seconds:g} s"] = row
                cells = [name, f"{seconds:g} s", f"{row['spent']} s", f"{row['linear']} s"]
                line = " | ".join([*cells, row["members"], "yes" if row["kept"] else "no"])
                lines.append(f"| {line} |")
                print(lines[-1], flush=True)
    finish("time_budget", found, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budgets", nargs="*", type=float, default=[5.0, 2.0, 20.0])
    main(parser.parse_args().budgets)
