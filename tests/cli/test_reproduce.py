"""Tables and figures of papers."""

from dataclasses import replace
from pathlib import Path

from commands import run_command
from eigenlabel.cli.reproduce import print_comparison
from eigenlabel.reproduce import TABLES, Row

KDD_TABLE_3 = Path(__file__).parents[2] / "results" / "papers" / "kdd-table3.csv"


def test_reproduce_lists_tables_and_prints_a_comparison(data_folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    assert run_command("reproduce", "--list") == 0
    listed = capsys.readouterr().out
    assert "mlls-table3" in listed
    assert "not available" in listed
    row = next(line for line in listed.splitlines() if line.startswith("mddm-table1 "))
    assert row.endswith("11 of 11 data sets, 9 of 9 methods")
    words = ["reproduce", "mlls-table3", "--methods", "ML_LS", "--splits", 1, "-o", tmp_path]
    assert run_command(*words, "--dry-run") == 0
    assert "Arts, ML_LS" in capsys.readouterr().out
    assert run_command("reproduce", "mlls-table2") == 0
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if line.startswith("Arts") and "features" in line)
    assert row.split() == ["Arts", "features", "published", "17973", "17973", "+0.0000"]
    assert "missing data: Computers" in out


def test_reproduce_runs_on_the_data_sets_that_exist(data_folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    assert run_command("reproduce", "mlls-table2") == 1
    error = capsys.readouterr().err
    assert "mlls-table2: none of its data is there. yahoo/Arts.svm.gz: no such file" in error
    assert "Take additional-data/yahoo_arts.rda" in error
    (tmp_path / "yahoo").symlink_to(data_folder / "yahoo")
    assert run_command("reproduce", "mlls-table2") == 0
    assert "missing data: Business" not in capsys.readouterr().err
    (tmp_path / "yahoo").unlink()
    (tmp_path / "yahoo").mkdir()
    for file in (data_folder / "yahoo").glob("Arts.*"):
        (tmp_path / "yahoo" / file.name).symlink_to(file)
    assert run_command("reproduce", "mlls-table2") == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()[3:8]] == ["Arts"] * 5
    assert "Health " not in out.split("missing data")[0]
    assert "missing data: Health: yahoo/Health.svm.gz: no such file" in err
    assert "* another number" not in out
    words = ["reproduce", "mlls-table3", "--dry-run", "--methods", "ML_LS", "--splits", 1]
    assert run_command(*words, "-o", tmp_path / "r") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("1 of 1 runs to do")


def test_a_comparison_states_what_is_known_about_the_spread(capsys):
    table = replace(TABLES["mlls-table3"], data=dict(list(TABLES["mlls-table3"].data.items())[:1]))
    for outside, said in (
        (True, "* differs from the paper by more"),
        (False, ""),
        (None, "The spread is unknown"),
    ):
        row = Row("Arts", "f1_macro", "SVM", 0.3, None, 0.4, None, 1, outside)
        print_comparison(table, [row], "text")
        out = capsys.readouterr().out
        assert ("differs from" in out, "spread is unknown" in out) == (
            outside is True,
            outside is None,
        )
        assert said in out


def test_runs_are_counted_against_the_protocol(capsys):
    table = replace(TABLES["mlls-table3"], data=dict(list(TABLES["mlls-table3"].data.items())[:1]))
    rows = [
        Row("Arts", "f1_macro", "SVM", 0.3, None, 0.4, 0.01, n, None) for n in (6, 30)
    ]  # no row has more than the protocol
    print_comparison(table, rows[:1], "text")
    out = capsys.readouterr().out
    assert "0.4000 ± 0.0100 (6 of 30 runs)" in out
    assert "± is the standard deviation over runs" in out
    print_comparison(table, rows[1:], "text")
    assert "of 30 runs" not in capsys.readouterr().out
    web = TABLES["mddm-table1"]
    (name,) = web.data
    print_comparison(web, [Row(name, "f1_macro", "PCA", 0.3, 0.1, 0.4, 0.1, 2, False)], "text")
    assert "(2 of 11 data sets)" in capsys.readouterr().out


def test_a_p_value_states_its_pairs(capsys):
    table = TABLES["mlls-table5"]
    few, all_pairs = (
        Row("Arts", "p of f1_macro", "ML_LS vs SVM", 1e-6, None, 0.03, None, n, outside)
        for n, outside in ((6, None), (30, False))
    )
    print_comparison(table, [few], "text")
    out = capsys.readouterr().out
    assert "0.0300 (6 of 30 pairs)" in out
    assert "p-values of fewer pairs than the protocol has are not compared" in out
    print_comparison(table, [all_pairs], "text")
    assert "0.0300 (30 pairs)" in capsys.readouterr().out


def test_records_of_another_table_are_refused(capsys):
    assert run_command("reproduce", "mddm-table1", "--records", KDD_TABLE_3) == 2
    error = capsys.readouterr().err
    assert "has no runs of mddm-table1, which compares mddm:CCA+MLkNN" in error


def test_methods_whose_names_contain_commas_can_be_chosen(
    data_folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    words = ("reproduce", "mlls-table7", "--methods", "ML_LS, cosine,SVM", "--dry-run")
    assert run_command(*words, "-o", tmp_path) == 0
    plan = capsys.readouterr().out
    assert "ML_LS, cosine" in plan
    assert "ML_LS, rbf" not in plan
