"""Time: what a budget leaves, and whether a member still fits into it."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

RESERVE = 0.1  # share of the budget for weights, thresholds and the last calibration
CLOSING = 2.0  # what these take, in units of the calibration and the figures of one member
SURE = 4.0  # a member that fits this many times is fitted in place, others where they can be ended
STEP = 10  # repeated steps, such as trees, between two looks at the clock
MEMORY = 0.5  # how far one measurement moves the correction of later predictions


class OutOfTimeError(Exception):
    """A member would take longer than the budget leaves."""


@dataclass
class Budget:
    """A number of seconds for all members.

    Attributes
    ----------
    seconds : float or None
        The budget; None for no limit.
    clock : callable
        Returns the time in seconds.
    factor : float
        The correction of predicted seconds: what was measured over what was predicted.
    closing : float
        The seconds that the end of the fit is expected to take.
    """

    seconds: float | None
    clock: Callable[[], float] = time.monotonic
    factor: float = 1.0
    closing: float = 0.0
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def left(self) -> float:
        """Return the seconds that members may still use."""
        if self.seconds is None:
            return math.inf
        kept = max(RESERVE * self.seconds, self.closing)
        return self.seconds - kept - (self.clock() - self.started)

    def expect_end(self, judging: float) -> None:
        """Reserve time for the end, given the seconds of the calibration of a member."""
        self.closing = max(self.closing, CLOSING * judging)

    def is_sure(self, predicted: float | None) -> bool:
        """Return True if a member is ready in time even if its prediction is far too low."""
        if self.seconds is None:
            return True
        return predicted is not None and SURE * self.factor * predicted <= self.left()

    def share(self, part: float) -> Callable[[int], bool]:
        """Return a function of the steps done that says if one more fits in a part of what is left.

        Parameters
        ----------
        part : float
            The share of the seconds that are left now.
        """
        started, allowed = self.clock(), part * self.left()

        def go_on(done: int) -> bool:
            spent = self.clock() - started
            return spent * (1 + STEP / done) <= allowed

        return go_on

    def why_not(self, predicted: float | None) -> str:
        """Return why a member is not started, or an empty string if it is."""
        left = self.left()
        if left <= 0:
            return f"no time left of time_budget={self.seconds:g} s"
        if predicted is not None and self.factor * predicted > left:
            return (
                f"about {self.factor * predicted:.2g} s needed, {left:.2g} s left of "
                f"time_budget={self.seconds:g} s"
            )
        return ""

    def learn(self, predicted: float | None, measured: float) -> None:
        """Correct later predictions by a measurement; short ones say little and do not count."""
        if predicted is None or measured < 1e-2:
            return
        self.factor *= (measured / (self.factor * predicted)) ** MEMORY

    def check(self, started: float, done: int, total: int) -> None:
        """Raise OutOfTimeError if a member that repeats the same step would not be ready in time.

        Parameters
        ----------
        started : float
            The time at which the member began.
        done : int
            The number of steps that are done.
        total : int
            The number of all steps.
        """
        spent = self.clock() - started
        rest = spent / done * (total - done)
        if rest > self.left():
            raise OutOfTimeError(
                f"about {rest:.2g} s more needed after {spent:.2g} s, "
                f"{max(0.0, self.left()):.2g} s left of time_budget={self.seconds:g} s"
            )
