import numpy as np
import pytest
import scipy.sparse as sp

from blend_tasks import make_task
from eigenlabel import Views
from eigenlabel.estimators.meta.blend.task import Form


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.array([[1.0, -2.0], [3.0, 0.0]]), (2, 2, 5, 2.0, False, True, False, False)),
        (sp.csr_array([[1.0, 0, 0], [3.0, 0, 1.0]]), (2, 3, 5, 1.5, True, False, False, False)),
        (np.ones((4, 3)), (4, 3, 5, 3.0, False, False, True, False)),
        (sp.csr_array(np.ones((4, 3))), (4, 3, 5, 3.0, True, False, True, False)),
        (sp.csr_array((4, 3)), (4, 3, 5, 0.0, True, False, True, False)),
        (sp.csr_array([[1.0, 0], [0, 1.0]]), (2, 2, 5, 1.0, True, False, False, False)),
        (Views([np.eye(3), np.ones((3, 2))]), (3, 5, 5, 5, False, True, False, True)),
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
