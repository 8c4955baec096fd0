"""Pages from models and records."""

from commands import run_command


def test_the_report_of_a_model_needs_labelled_data(folder, tmp_path, capsys):
    words = ["report", folder / "m.skops", "-o", tmp_path / "page.html"]
    assert run_command(*words) == 2
    assert "pass --data" in capsys.readouterr().err
    assert run_command(*words, "--data", folder / "test.arff") == 0
    assert "ranking_loss" in (tmp_path / "page.html").read_text()
