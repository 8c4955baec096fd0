"""Install the wheel in an empty environment and use it as a new user would.

    python tools/try_wheel.py lowest dist/*.whl    # the lowest versions that pyproject.toml allows
    python tools/try_wheel.py newest dist/*.whl    # the newest versions that pip finds

The environment is made in a temporary folder, so that nothing is found by accident: neither the
source nor the tools of developers. Then the version, the demo and a script that fits, saves, loads
and predicts are run, with warnings as errors. ``--extras`` installs the extras too.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
NOT_USERS = ("dev",)  # extras that are not installed
REQUIREMENT = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(\[[\w,]+\])?\s*(?P<bound>.*)$")

SCRIPT = """
import importlib.util
import numpy as np
import threadpoolctl
import eigenlabel as el
from eigenlabel.persistence import load_model, save_model

data = el.datasets.make_shared_subspace(n_samples=200, random_state=0)
model = el.SharedSubspaceClassifierCV(cv=3).fit(data.X[:150], data.Y[:150])
save_model(model, "model.skops")
again = load_model("model.skops").model
P = again.predict_proba(data.X[150:])
np.testing.assert_allclose(P, model.predict_proba(data.X[150:]))
assert (again.predict(data.X[150:]) == model.predict(data.X[150:])).all()
blend = el.MultilabelBlend(["linear", "forest"], cv=3, random_state=0).fit(data.X, data.Y)
found = el.metrics.evaluate(data.Y, blend.decision_function(data.X), blend.predict(data.X))
assert found["f1_micro"] > 0.5, found
assert any(one["user_api"] == "blas" for one in threadpoolctl.threadpool_info())
if importlib.util.find_spec("onnx"):
    el.export_onnx(model, "model.onnx")
el.show_versions()
"""


def lower_bounds(requirements: list[str]) -> list[str]:
    """Return constraints that pin each requirement to its lower bound.

    ValueError is raised if a requirement has none, because then nothing is known to work.
    """
    pins = []
    for requirement in requirements:
        match = REQUIREMENT.match(requirement)
        bound = re.search(r">=\s*([\w.]+)", match["bound"]) if match else None
        if match is None or bound is None:
            raise ValueError(f"{requirement!r} has no lower bound: write name>=version")
        pins.append(f"{match['name']}=={bound[1]}")
    return pins


def declared(project: dict, extras: bool) -> list[str]:
    """Return the requirements of users, with those of the extras if asked for."""
    found = list(project["dependencies"])
    if extras:
        optional = project["optional-dependencies"].items()
        found += [one for name, some in optional if name not in NOT_USERS for one in some]
    return found


def extra_names(project: dict) -> str:
    """Return the extras of users, separated by commas."""
    return ",".join(name for name in project["optional-dependencies"] if name not in NOT_USERS)


def run(*command: str, cwd: Path) -> None:
    """Run a command in a folder, without the variables that change where Python looks."""
    print("$", " ".join(command[:4]), flush=True)
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "EIGENLABEL_DATA")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    subprocess.run(command, cwd=cwd, env=environment, check=True)


def main() -> None:
    """Make the environment, install the wheel and use it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("versions", choices=("lowest", "newest"))
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--extras", action="store_true", help="install the extras too")
    arguments = parser.parse_args()
    project = tomllib.loads(PROJECT.read_text())["project"]
    wheel = arguments.wheel.resolve(strict=True)
    wanted = f"{wheel}[{extra_names(project)}]" if arguments.extras else str(wheel)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        binary = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        install = [str(binary / "python"), "-m", "pip", "install", "--quiet"]
        if arguments.versions == "lowest":
            pins = lower_bounds(declared(project, arguments.extras))
            (folder / "lowest.txt").write_text("\n".join(pins))
            install += ["--constraint", "lowest.txt"]
        run(*install, wanted, cwd=folder)
        run(str(binary / "eigenlabel"), "--version", cwd=folder)
        run(str(binary / "python"), "-W", "error", "-c", SCRIPT, cwd=folder)
        run(str(binary / "eigenlabel"), "demo", cwd=folder)
        if not (folder / "eigenlabel-demo.html").stat().st_size:
            raise SystemExit("the demo wrote an empty page")


if __name__ == "__main__":
    main()
