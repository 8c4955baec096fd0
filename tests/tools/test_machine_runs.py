"""The script that runs the test suite with the kernels of other processors."""

import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "tools" / "test_machines.py"


@pytest.mark.parametrize(
    ("families", "code", "message"),
    [({}, 0, "no family of kernels"), ({"Own": {}}, 2, "supports Own, not another family")],
)
def test_a_run_of_another_family_fails_if_only_the_own_family_is_supported(
    monkeypatch, capsys, families, code, message
):
    spec = importlib.util.spec_from_file_location("machines", FILE)
    machines = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(machines)
    monkeypatch.setattr(machines, "supported", lambda: families)
    monkeypatch.setattr(machines, "probe", lambda: {"kernels": ["Own"], "loops": []})
    monkeypatch.setattr("sys.argv", ["test_machines.py", "--other"])
    assert machines.main() == code
    out = capsys.readouterr().out
    assert "Nothing was tested" in out
    assert message in out
