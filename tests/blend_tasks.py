"""Tasks for tests of the parts of a blend."""

import numpy as np

from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.meta.blend.budget import Budget
from eigenlabel.estimators.meta.blend.task import BlendTask
from eigenlabel.labels.codec import LabelCodec, signed_targets
from eigenlabel.model_selection import MultilabelStratifiedKFold


def make_task(X=None, y=None, *, weights=None, seconds=None, exchangeable=True, params=None):
    """Return the task of some data, by default 90 samples with four labels."""
    if X is None:
        data = make_shared_subspace(90, 6, 4, prevalence=0.3, noise=0.3, random_state=0)
        X, y = data.X, data.Y
    codec, Y, observed = LabelCodec.fit_observed(y)
    target = np.asarray(y) if codec.multilabel else codec.decide(signed_targets(Y))
    return BlendTask(
        X=X,
        given=X,
        passed=X,
        y=target,
        Y=Y,
        observed=observed,
        weights=weights,
        codec=codec,
        folds=list(MultilabelStratifiedKFold(3).split(Y, Y)),
        exchangeable=exchangeable,
        seed=0,
        n_jobs=None,
        params=lambda name: {} if params is None else params[name],
        budget=Budget(seconds),
    )


def judge_nothing(logits, P):
    """Return a figure that needs no rule, in place of those of a leaderboard."""
    figure = float(len(logits) + P.shape[1])
    return dict.fromkeys(("f1_macro", "f1_micro", "lrap", "log_loss"), figure)
