"""The script that installs the wheel with the lowest versions of all dependencies."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tools" / "try_wheel.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("try_wheel", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_bounds_become_pins(tool):
    found = tool.lower_bounds(["numpy>=2.0", "dask[array]>=2024.6,<2030", "a-b.c >= 1.2rc1"])
    assert found == ["numpy==2.0", "dask==2024.6", "a-b.c==1.2rc1"]


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy==2.0"])
def test_a_requirement_without_a_lower_bound_is_an_error(tool, requirement):
    with pytest.raises(ValueError, match="has no lower bound"):
        tool.lower_bounds([requirement])


def test_every_requirement_of_users_has_a_lower_bound(tool, project):
    pins = tool.lower_bounds(tool.declared(project, extras=True))
    assert len(pins) > len(tool.declared(project, extras=False)) > 5
    assert {"numpy", "onnx", "polars"} <= {pin.partition("==")[0] for pin in pins}
    assert "dev" not in tool.extra_names(project).split(",")
