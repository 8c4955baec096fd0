"""LIBSVM text is read in pieces of equal widths."""

from eigenlabel.datasets import iterate


def test_widths_may_be_passed(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("0 1:1\n1 1:1\n2 9:1\n")
    pieces = list(iterate(path, rows=1, n_features=9, n_labels=3))
    assert [piece.X.shape for piece in pieces] == [(1, 9)] * 3
    assert [piece.Y.shape for piece in pieces] == [(1, 3)] * 3
    path.write_text("0 1:1\n1 0:1\n")
    first, second = iterate(path, rows=1, n_features=2, n_labels=2, zero_based=True)
    assert (first.X.toarray().tolist(), second.X.toarray().tolist()) == ([[0, 1]], [[1, 0]])
    (tmp_path / "a.features.txt").write_text("f\ng\nh\n")
    assert next(iterate(path, rows=1, n_labels=2)).feature_names.tolist() == ["f", "g", "h"]


def test_zero_based_is_decided_once(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("0,1 0:1 3:1\n1 2:1\n")  # by itself the second line would begin at 1
    pieces = list(iterate(path, rows=1))
    assert pieces[1].X.toarray().tolist() == [[0, 0, 1, 0]]
