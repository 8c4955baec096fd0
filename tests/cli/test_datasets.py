"""Known data sets."""

import pytest

from commands import run_command


def test_datasets_are_listed_and_similar_names_are_suggested(capsys):
    assert run_command("datasets", "list") == 0
    assert "emotions" in capsys.readouterr().out
    assert run_command("datasets", "info", "emotion") == 1
    assert "did you mean emotions" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["info", "path", "fetch"])
def test_the_embedded_data_set_is_said_to_be_built_in(action, capsys):
    assert run_command("datasets", action, "debtags") == 1
    assert "debtags: built in, without files; commands accept it as" in capsys.readouterr().err
