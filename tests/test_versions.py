"""The list of versions for reports of problems."""

import platform
from importlib.metadata import PackageNotFoundError

import numpy as np
import sklearn

import eigenlabel as el
from eigenlabel import versions


def lines_of(capsys):
    el.show_versions()
    lines = capsys.readouterr().out.splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


def test_the_versions_that_run_are_printed(capsys):
    found = lines_of(capsys)
    assert found["eigenlabel"] == el.__version__
    assert found["Python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["scikit-learn"] == sklearn.__version__
    assert "threads" in found["blas"]


def test_what_is_not_installed_is_listed_and_tools_of_developers_are_not(capsys, monkeypatch):
    monkeypatch.setattr(
        versions, "requires", lambda _: ["piqp>=0.6; extra == 'margin'", "ruff; extra == 'dev'"]
    )

    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(versions, "version", absent)
    found = lines_of(capsys)
    assert found["piqp"] == "not installed"
    assert "ruff" not in found


def test_a_source_folder_that_is_not_installed_lists_the_main_dependencies(capsys, monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(versions, "requires", absent)
    assert lines_of(capsys)["scipy"].count(".") >= 1
