"""Records of runs as CSV files."""

import json
from pathlib import Path

import pytest

from commands import run_command
from eigenlabel.datasets import DataError
from eigenlabel.experiment import run
from eigenlabel.reproduce import FIGURES, read_csv, write_csv
from protocols import small_figure

VOLATILE = {"protocol", "machine", "warnings"}  # not in the file


@pytest.fixture
def records(tmp_path):
    return run(small_figure().protocol(n_splits=1), tmp_path / "runs")


def test_records_survive_the_file(records, tmp_path):
    assert write_csv(records, tmp_path / "r.csv") == len(records) > 0
    found = read_csv(tmp_path / "r.csv")
    for one, other in zip(records, found, strict=True):
        other["metrics"] = {k: pytest.approx(v, rel=1e-9) for k, v in other["metrics"].items()}
        if one["peak_mib"] is not None:
            other["peak_mib"] = pytest.approx(one["peak_mib"], abs=0.05)  # one digit
        expected = {k: v for k, v in one.items() if k not in VOLATILE}
        assert expected | {"seconds": {"fit": one["seconds"]["fit"]}} == other
    again = tmp_path / "again.csv"
    write_csv(read_csv(tmp_path / "r.csv"), again)
    assert again.read_text() == (tmp_path / "r.csv").read_text()


def test_failed_runs_are_left_out(records, tmp_path):
    failed = {**records[0], "error": "ValueError: no"}
    assert write_csv([failed, records[1]], tmp_path / "r.csv") == 1


def test_a_missing_value_is_an_empty_cell(records, tmp_path):
    records[0]["metrics"]["hamming_loss"] = None
    write_csv(records, tmp_path / "r.csv")
    assert read_csv(tmp_path / "r.csv")[0]["metrics"] == {"hamming_loss": None}


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\n1,2\n", "not a file of records"), (None, "not a record")],
)
def test_other_files_are_refused(records, tmp_path, text, message):
    path = tmp_path / "r.csv"
    if text is None:
        write_csv(records, path)
        text = path.read_text().replace(json.dumps(records[0]["seconds"]["fit"]), "x", 1)
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_csv(path)


def test_the_command_writes_and_shows_records(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(FIGURES, "f", small_figure())
    path = tmp_path / "f.csv"
    folder = str(tmp_path / "runs")
    assert run_command("reproduce", "f", "-o", folder, "--export", str(path)) == 0
    printed = capsys.readouterr().out
    assert len(read_csv(path)) == 3 * 3 * 2
    assert run_command("reproduce", "f", "--records", str(path)) == 0
    assert capsys.readouterr().out == printed
    assert run_command("reproduce", "f", "--records", str(path), "--splits", "1") == 0
    assert capsys.readouterr().out != printed


def test_a_table_of_the_repository_is_shown_without_its_data(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    path = Path(__file__).parents[2] / "results" / "papers" / "mlls-table3.csv"
    plot = tmp_path / "t.svg"
    words = ("--records", str(path), "--plot", str(plot), "--report", str(tmp_path / "t.html"))
    assert run_command("reproduce", "mlls-table3", *words) == 0
    assert "of 30 runs" in capsys.readouterr().out
    assert plot.read_text().startswith("<?xml")
    assert "ML_LS" in (tmp_path / "t.html").read_text(encoding="utf-8")
