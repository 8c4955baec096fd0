"""ARFF rows that are read in blocks and one by one have the same data and errors."""

import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from eigenlabel.datasets import DataError, load_mulan
from eigenlabel.datasets.forms.arff import rows as _arff

DENSE = """@relation 'x: -C 1'
@attribute L {0,1}
@attribute size numeric
@attribute colour {red,'light blue',it's,a_name_of_more_than_8_bytes,été}
@attribute level {1,2.50,-3}
@data
"""


SPARSE = DENSE.replace("{red,", "{none,red,")


FAST = "fast"


SLOW = "slow"


WRONG = "wrong"


DENSE_ROWS = {
    "0,1.5,red,1": FAST,
    "0, 1.5, red, 1": FAST,
    "0 ,\t1.5,  red , 1": FAST,
    "1,-2e-3,été,-3": FAST,
    "1,?,?,?": FAST,
    "0,12345678901234567,red,1": FAST,
    "0,0.1234567890123456789012,red,1": FAST,
    "0,inf,red,1": FAST,
    "0,1_0,red,1": FAST,
    "0,1.5,'red',\"1\"": FAST,
    "0,1.5,'light blue',1": FAST,
    "0,1.5,light blue,1": FAST,
    "0,1.5,a_name_of_more_than_8_bytes,1": FAST,
    "0.0,1,red,1.0": FAST,
    "+0,1,red,25e-1": FAST,
    "0,1,it's,1": SLOW,
    '0,1,"it\'s",1': SLOW,
    "0,1,'it\\'s',1": SLOW,
    "0,1,red\x1c,1": FAST,
    "0,1,red,1,": WRONG,
    "0,1,red": WRONG,
    "0,,red,1": WRONG,
    "0,1,,1": WRONG,
    "0,1,red,7": WRONG,
    "0,1,red,nan": WRONG,
    "0,1,pink,1": WRONG,
    "0,1 2,red,1": WRONG,
    "0,big,red,1": WRONG,
    "0,1,'red,blue',1": WRONG,
    "0,'1,red',1": WRONG,
    "0,1,'red,1": WRONG,
    "{0 1}": WRONG,
}


SPARSE_ROWS = {
    "{0 1,1 1.5,2 red}": FAST,
    "{0 1, 1 1.5, 2 red}": FAST,
    "{ 0 1 ,  1\t1.5,2  red }": SLOW,
    "{}": FAST,
    "{1 -2e-3,2 été,3 -3}": FAST,
    "{1 ?,2 ?}": FAST,
    "{0 1.0,3 2.5}": FAST,
    "{2 'red',3 \"1\"}": FAST,
    "{000 1}": FAST,
    "{2 'light blue'}": SLOW,
    "{2 light blue}": SLOW,
    "{3 1,1 2}": SLOW,
    "{0 1,}": SLOW,
    "{2 it's}": SLOW,
    "{0 1,0 1}": WRONG,
    "{4 1}": WRONG,
    "{123456789 1}": WRONG,
    "{" + "9" * 5000 + " 1}": WRONG,
    "{² 1}": WRONG,
    "{-1 1}": WRONG,
    "{1.0 1}": WRONG,
    "{1}": WRONG,
    "{' '}": WRONG,
    "{1 2 3}": WRONG,
    "{0 1 1,2}": WRONG,
    "{0 1 1 2}": WRONG,
    "{1 x}": WRONG,
    "{2 pink}": WRONG,
    "{3 7}": WRONG,
    "{0 1": WRONG,
    "0 1}": WRONG,
    "0,1,red,1": WRONG,
}


CASES = [
    (head, row, path)
    for head, rows in ((DENSE, DENSE_ROWS), (SPARSE, SPARSE_ROWS))
    for row, path in rows.items()
]


USUAL = {DENSE: "1,0.5,light blue,2.5", SPARSE: "{0 1,1 0.5}"}


def refuse(*_):
    raise ValueError("not this way")


def outcome(path):
    """Return the content of a file, or the error that it raises."""
    try:
        data = load_mulan(path)
    except DataError as error:
        return str(error)
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    return X.tobytes(), data.Y.toarray().tobytes(), data.X.shape, sp.issparse(data.X)


def only(monkeypatch, way):
    """Let rows be read one way alone."""
    barred = (
        ("_dense_block", "_sparse_block") if way == SLOW else ("_dense_slowly", "_sparse_slowly")
    )
    for name in barred:
        monkeypatch.setattr(_arff, name, refuse)


@pytest.mark.parametrize(("head", "row", "way"), CASES)
def test_both_ways_agree_and_the_usual_is_fast(tmp_path, monkeypatch, head, row, way):
    path = tmp_path / "a.arff"
    path.write_text(f"{head}{USUAL[head]}\n{row}\n{USUAL[head]}\n")
    found = outcome(path)
    with monkeypatch.context() as patch:
        only(patch, SLOW)
        assert outcome(path) == found
    if way == WRONG:
        assert "line 8: " in found
        return
    assert isinstance(found, tuple)
    only(monkeypatch, FAST)
    if way == FAST:
        assert outcome(path) == found
    else:
        with pytest.raises(ValueError, match="not this way"):
            load_mulan(path)


PIECES = ["0", "1", "2.50", "-3", "1e1", "?", "red", "'red'", "it's", "light blue", "été"]
PIECES += [",", ", ", " ", "\t", "'", '"', "\\", "{", "}", "%", "\n", ".", "9" * 9]


@pytest.mark.parametrize("head", [DENSE, SPARSE])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_both_ways_agree_on_noise(tmp_path, head, data):
    rows = list(DENSE_ROWS if head == DENSE else SPARSE_ROWS)
    lines = data.draw(st.lists(st.sampled_from([*rows[:9], USUAL[head]]), min_size=1, max_size=4))
    text = "\n".join(lines)
    for _ in range(data.draw(st.integers(0, 3))):
        at, cut = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 3))
        text = text[:at] + data.draw(st.sampled_from(PIECES)) + text[at + cut :]
    path = tmp_path / "a.arff"
    path.write_text(head + text)
    found = outcome(path)
    with pytest.MonkeyPatch.context() as patch:
        only(patch, SLOW)
        assert outcome(path) == found
    event("refused" if isinstance(found, str) else "read")


@pytest.mark.parametrize("head", [DENSE, SPARSE])
@pytest.mark.parametrize("block", [1, 40, 100])
def test_blocks_make_no_difference(tmp_path, monkeypatch, head, block):
    rows = [row for h, row, way in CASES if h == head and way != WRONG]
    path = tmp_path / "a.arff"
    path.write_text(head + "% a comment\n\n" + "\n\n  % another\n".join(rows))
    whole = outcome(path)
    assert whole[2][0] == len(rows)
    wrong = tmp_path / "b.arff"
    wrong.write_text(path.read_text() + "\n\nnothing")
    reason = outcome(wrong)
    last = len(wrong.read_text().split("\n"))
    assert f"line {last}: " in reason
    monkeypatch.setattr(_arff, "BLOCK", block)
    assert outcome(path) == whole
    assert outcome(wrong) == reason


@pytest.mark.parametrize(
    ("head", "rows"),
    [(DENSE, "0 ,\t1.5,  red , 1\n1,  2,red ,1"), (SPARSE, "{ 0 1 ,  1\t1.5}\n{2   red}\n{}")],
)
def test_rows_padded_from_the_first_on_are_read_the_fast_way(tmp_path, monkeypatch, head, rows):
    path = tmp_path / "a.arff"
    path.write_text(head + rows)
    only(monkeypatch, FAST)
    found = outcome(path)
    assert isinstance(found, tuple)
    path.write_text(head + " ".join(rows.replace("\n", "@").split()).replace("@", "\n"))
    assert outcome(path) == found


@pytest.mark.parametrize(
    ("head", "row", "message"),
    [
        (DENSE, ",".join(["1"] * 99), "line 7: 99 values for 4 attributes"),
        (SPARSE, "{" + ",".join(["0 1"] * 99) + "}", "line 7: index 0 occurs twice"),
    ],
)
def test_a_row_far_too_long_takes_no_memory_for_its_words(
    tmp_path, monkeypatch, head, row, message
):
    path = tmp_path / "a.arff"
    path.write_text(head + row)
    monkeypatch.setattr(_arff, "BLOCK", 50)
    monkeypatch.setattr(_arff, "cut", lambda *_: pytest.fail("cut"))
    assert message in outcome(path)


@pytest.mark.parametrize("rows", ["{}", "{ }", "{}\n{0 1}\n{ }"])
@pytest.mark.parametrize("way", [FAST, SLOW])
def test_empty_sparse_rows_are_samples(tmp_path, monkeypatch, rows, way):
    path = tmp_path / "a.arff"
    path.write_text(SPARSE + rows)
    if way == SLOW:
        only(monkeypatch, SLOW)
    monkeypatch.setattr(_arff, "BLOCK", 1)
    data = load_mulan(path)
    assert data.X.nnz == 0
    assert data.Y.sum() == rows.count("0 1")


def test_a_zero_byte_is_a_part_of_a_word(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text(f"% {'x' * 5000}\n{DENSE}0,1,\0red,1\n")  # too far down to look binary
    assert r"line 8: 'colour' is '\x00red', not in its list" in outcome(path)


def test_published_files_are_read_the_fast_way(data_folder, monkeypatch):
    only(monkeypatch, FAST)
    for name in ("birds/birds-test", "enron/enron-test", "flags/flags", "genbase/genbase"):
        assert load_mulan(data_folder / f"mulan/{name}.arff").Y.nnz


def test_a_quoted_value_of_a_sparse_row_may_contain_commas(tmp_path):
    path = tmp_path / "x.arff"
    head = "@relation 'x: -C 1'\n@attribute L {0,1}\n@attribute c {none,'a,b','it\\'s, too'}\n"
    path.write_text(head + "@data\n{0 1,1 'a,b'}\n{1 'it\\'s, too' , 0 1}\n{0 1}\n")
    # One column for each value but the first, which a sparse row leaves out.
    assert load_mulan(path).X.toarray().any(axis=1).tolist() == [True, True, False]


def test_quotes_that_are_never_closed_take_linear_time():
    pairs = _arff._split_pairs(", ".join(["0 '\\'"] * 10**5))
    assert len(pairs) == 1
    assert _arff._split_pairs('0 it\'s, 1 2,, 3 "x,y"') == ["0 it's", "1 2", "", '3 "x,y"']
