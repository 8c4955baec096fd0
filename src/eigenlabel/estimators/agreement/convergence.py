"""The warning of alternating least squares that does not converge."""

from sklearn.exceptions import ConvergenceWarning

from eigenlabel.inputs.warning import warn


def warn_unless_converged(change: float, n_sweeps: int, tol: float) -> None:
    """Warn if the last sweep of alternating least squares turned the scores by tol or more."""
    if tol and change >= tol:
        warn(
            f"Alternating least squares still turned the scores by {change:.1e} (wanted {tol:.0e}) "
            f"after {n_sweeps} sweeps: use solver='eigen', or more sweeps.",
            ConvergenceWarning,
        )
