import numpy as np
import pytest
import scipy.sparse as sp

from blend_tasks import make_task
from eigenlabel import Views
from eigenlabel.estimators.meta.blend.task import Form, join_views


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.array([[1.0, -2.0], [3.0, 0.0]]), (2, 2, 5, 2.0, False, True, False, False)),
        (sp.csr_array([[1.0, 0, 0], [3.0, 0, 1.0]]), (2, 3, 5, 1.5, True, False, False, False)),
        (np.ones((4, 3)), (4, 3, 5, 3.0, False, False, True, False)),
        (sp.csr_array(np.ones((4, 3))), (4, 3, 5, 3.0, True, False, True, False)),
        (sp.csr_array((4, 3)), (4, 3, 5, 0.0, True, False, True, False)),
        (sp.csr_array([[1.0, 0], [0, 1.0]]), (2, 2, 5, 1.0, True, False, False, False)),
        (Views([np.eye(3), np.ones((3, 2))]), (3, 5, 5, 5.0, False, False, False, True)),
        (
            Views([np.array([[np.nan], [1.0]]), np.ones((2, 2))]),
            (2, 3, 5, 3, False, True, False, True, False),
        ),
    ],
)
def test_the_form_of_data(X, expected):
    assert Form.of(X, 5) == Form(*expected)


def test_observed_cells():
    Y = np.array([[1.0, np.nan], [0.0, 1.0], [1.0, 0.0]])
    task = make_task(np.eye(3), Y)
    np.testing.assert_array_equal(task.cells, ~np.isnan(Y))
    assert make_task(np.eye(3), np.ones((3, 2))).cells.all()
    assert task.form.n == 3


def test_tables_side_by_side():
    a, b = np.eye(3), sp.csr_array(np.ones((3, 2)))
    np.testing.assert_array_equal(join_views(Views([a, a])), np.hstack([a, a]))
    joined = join_views(Views([a, b]))
    np.testing.assert_array_equal(joined.toarray(), np.hstack([a, np.ones((3, 2))]))
    assert join_views(Views([a, None])) is None
    assert make_task(Views([a, a]), np.ones((3, 2))).matrix.shape == (3, 6)
