"""What solves return."""

from eigenlabel.linalg.factors.solution import Shortfall, worst


def test_the_worst_shortfall_has_the_largest_residual():
    small, large = Shortfall(1e-5, 1e-6, "small"), Shortfall(1e-2, 1e-6, "large")
    assert worst([None, small, large, None]) is large
    assert worst([None, None]) is None
    assert worst([]) is None
