"""Pages from models and records."""

from commands import run_command


def test_the_report_of_a_model_needs_labelled_data(folder, tmp_path, capsys):
    words = ["report", folder / "m.skops", "-o", tmp_path / "page.html"]
    assert run_command(*words) == 2
    assert "pass --data" in capsys.readouterr().err
    assert run_command(*words, "--data", folder / "test.arff") == 0
    assert "ranking_loss" in (tmp_path / "page.html").read_text()


def test_a_source_that_does_not_exist_is_named(tmp_path, capsys):
    assert run_command("report", tmp_path / "nope", "-o", tmp_path / "page.html") == 1
    assert f"{tmp_path / 'nope'}: no such file" in capsys.readouterr().err
