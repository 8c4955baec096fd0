"""Known data sets."""

from commands import run_command


def test_datasets_are_listed_and_similar_names_are_suggested(capsys):
    assert run_command("datasets", "list") == 0
    assert "emotions" in capsys.readouterr().out
    assert run_command("datasets", "info", "emotion") == 1
    assert "did you mean emotions" in capsys.readouterr().err
