"""Fit the members of a blend one after the other, within the time and memory that there is."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

from eigenlabel.estimators.meta.blend.blending import Calibrated, calibrate
from eigenlabel.estimators.meta.blend.budget import OutOfTimeError
from eigenlabel.estimators.meta.blend.members import (
    RECIPES,
    Candidate,
    Member,
    fit_linear,
    fit_member,
)
from eigenlabel.estimators.meta.blend.task import BlendTask
from eigenlabel.inputs import progress
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.machine import memory_limit, readable
from eigenlabel.thresholds.calibration import Calibration

LATE = ("not fitted", "stopped")  # how the reasons begin that no error caused
ARRAYS = 8  # arrays of samples x labels that exist besides the log-odds of members


@dataclass(frozen=True)
class MemberEntry:
    """What became of a candidate.

    Attributes
    ----------
    name : str
        The name of the member.
    seconds : float
        The time that its fit and its calibration took.
    member : Member or None
        The fitted member; None if there is none.
    calibrated : Calibrated or None
        Its calibration and held-out log-odds.
    reason : str
        Why there is no member.
    figures : dict of str to float
        The held-out figures of a fitted member.
    """

    name: str
    seconds: float
    member: Member | None = None
    calibrated: Calibrated | None = None
    reason: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def logits(self) -> Floats:
        """The held-out log-odds (n, m) of a fitted member."""
        assert self.calibrated is not None
        return self.calibrated.logits

    @property
    def calibration(self) -> Calibration:
        """The calibration of a fitted member."""
        assert self.calibrated is not None
        return self.calibrated.calibration


Judge = Callable[[Floats, Floats], Mapping[str, float]]


def fit_candidates(
    candidates: list[Candidate], task: BlendTask, method: str, verbose: int, judge: Judge
) -> list[MemberEntry]:
    """Fit the candidates in order, as far as time and memory allow.

    A candidate that fails is reported and left out. If the budget is too short for all of them, the
    linear model is fitted all the same, with a warning.

    Parameters
    ----------
    candidates : list of Candidate
        The candidates in their order.
    task : BlendTask
        The training data.
    method : str
        The method of calibrations.
    verbose : int
        Whether progress is shown.
    judge : callable
        Returns the figures of held-out log-odds and probabilities.

    Raises
    ------
    ValueError
        If no candidate could be fitted. The message contains the reasons.
    """
    most = _most_members(task, len(candidates))
    entries: list[MemberEntry] = []
    with progress.tuning(len(candidates), verbose, "member") as bar:
        for candidate in candidates:
            entries.append(_try(candidate, task, (method, judge), entries, most))
            bar.update(1)
            if verbose:
                bar.write(describe(entries[-1]), file=sys.stderr)
    if any(entry.member is not None for entry in entries):
        _warn_if_short(entries, task)
        return entries
    return [*entries, _last_resort(entries, task, (method, judge))]


def fit_second(
    candidate: Candidate, task: BlendTask, method: str, judge: Judge, P: Floats
) -> MemberEntry:
    """Fit the member that reads the blended held-out probabilities of all labels.

    Parameters
    ----------
    candidate : Candidate
        The member.
    task : BlendTask
        The training data.
    method : str
        The method of calibrations.
    judge : callable
        Returns the figures of held-out log-odds and probabilities.
    P : (n, m) array
        The blended probabilities.
    """
    if np.isnan(P).any():
        reason = "not fitted: it needs held-out scores of all samples"
        return MemberEntry(candidate.name, 0.0, reason=reason)
    return _try(candidate, task.reading(P), (method, judge), [], 1)


def _try(
    candidate: Candidate,
    task: BlendTask,
    how: tuple[str, Judge],
    before: list[MemberEntry],
    most: int,
) -> MemberEntry:
    """Fit a candidate unless time or memory forbid it."""
    predicted = candidate.predicted(task.form)
    first = not any(entry.member is not None for entry in before)
    linear = candidate.name == "linear" and candidate.recipe is not None and first
    reason = "" if linear else task.budget.why_not(predicted)
    if sum(entry.member is not None for entry in before) >= most:
        reason = f"no memory for the scores of more than {most} members"
    if reason:
        return MemberEntry(candidate.name, 0.0, reason=f"not fitted: {reason}")
    started = task.budget.clock()
    try:
        entry = _fit(candidate, task, how, started)
    except OutOfTimeError as error:
        return MemberEntry(
            candidate.name, task.budget.clock() - started, reason=f"stopped: {error}"
        )
    except Exception as error:  # any classifier may fail in its own way, and others remain
        reason = f"failed: {type(error).__name__}: {error}"
        warn(f"Member {candidate.name!r} of the blend is left out, because it {reason}")
        return MemberEntry(candidate.name, task.budget.clock() - started, reason=reason)
    task.budget.learn(predicted, entry.seconds)
    return entry


def _fit(
    candidate: Candidate, task: BlendTask, how: tuple[str, Judge], started: float
) -> MemberEntry:
    """Fit a member, calibrate it, and compute its figures."""
    method, judge = how
    linear = candidate.name == "linear" and candidate.recipe is not None
    member = fit_linear(task) if linear else fit_member(candidate, task)
    if member.scores.shape != task.Y.shape:
        raise ValueError(
            f"its held-out scores have shape {member.scores.shape}, and must have {task.Y.shape}."
        )
    if np.isnan(member.scores).all():
        raise ValueError("its held-out scores are all NaN.")
    fitted = task.budget.clock()
    calibrated = calibrate(member.scores, task, method)
    figures = judge(calibrated.logits, expit(calibrated.logits))
    ready = task.budget.clock()
    task.budget.expect_end(ready - fitted)
    return MemberEntry(candidate.name, ready - started, member, calibrated, figures=figures)


def _warn_if_short(entries: list[MemberEntry], task: BlendTask) -> None:
    """Warn if the budget was too short for anything but the linear model."""
    if task.budget.seconds is None:
        return
    fitted = [entry for entry in entries if entry.member is not None]
    late = [entry for entry in entries if entry.reason.startswith(LATE)]
    if len(fitted) == 1 and fitted[0].name == "linear" and (late or task.budget.left() < 0):
        warn(
            f"time_budget={task.budget.seconds:g} s is too short for any member but the linear "
            f"model, which took {fitted[0].seconds:.2g} s. Pass a larger time_budget for a blend."
        )


def _last_resort(
    entries: list[MemberEntry], task: BlendTask, how: tuple[str, Judge]
) -> MemberEntry:
    """Return the linear model if time was too short for all members; raise if all failed."""
    failed = [entry for entry in entries if not entry.reason.startswith(LATE)]
    reasons = "; ".join(f"{entry.name!r} {entry.reason}" for entry in entries)
    if failed or task.form.views:
        raise ValueError(f"No member of the blend could be fitted: {reasons}")
    warn(f"The blend is the linear model alone, because members were left out: {reasons}.")
    return _fit(Candidate("linear", RECIPES["linear"]), task, how, task.budget.clock())


def check_size(shape: tuple[int, ...]) -> None:
    """Raise MemoryError if the held-out scores of one member do not fit in memory.

    Parameters
    ----------
    shape : tuple of int
        The shape of y. That of a vector is not checked, since its classes are few.
    """
    if len(shape) != 2:
        return
    n, m = shape
    limit, needed = memory_limit(), (ARRAYS + 1) * 8.0 * n * m
    if needed > limit:
        raise MemoryError(
            f"A blend compares held-out scores of all samples and labels: {ARRAYS + 1} arrays of "
            f"{n} x {m} numbers, {readable(needed)}; this machine has {readable(limit)}. Use "
            "SharedSubspaceClassifier(alpha=inf), which needs none of them, or fewer labels."
        )


def _most_members(task: BlendTask, wanted: int) -> int:
    """Return how many members fit in memory with scores and weights; warn if not all do."""
    (n, m), d = task.Y.shape, task.form.d
    limit, array = memory_limit(), 8.0 * m * (n + d)
    most = max(1, int((limit - ARRAYS * 8.0 * n * m) / max(array, 1.0)))
    if most < wanted:
        warn(
            f"The held-out scores and weights of {wanted} members are {wanted} arrays of {n} x {m} "
            f"and {d} x {m} numbers, {readable(wanted * array)}; this machine has "
            f"{readable(limit)}. The blend has at most {most} members."
        )
    return most


def describe(entry: MemberEntry) -> str:
    """Return what is shown about a member when it is ready."""
    if entry.member is None:
        return f"{entry.name}: {entry.reason}"
    shown = {"f1_macro": "macro F1", "f1_micro": "micro F1", "lrap": "LRAP", "log_loss": "log-loss"}
    found = ", ".join(f"{word} {entry.figures[key]:.3f}" for key, word in shown.items())
    return f"{entry.name}: {found} held out, {entry.seconds:.1f} s"
