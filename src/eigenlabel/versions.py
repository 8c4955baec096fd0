"""Versions of the package, of what it depends on, and of the machine, for reports of problems."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, requires, version

from threadpoolctl import threadpool_info

from eigenlabel._version import __version__


def show_versions() -> None:
    """Print the versions of eigenlabel, Python and all dependencies, and the BLAS libraries.

    Include the output in a report of a problem. Optional dependencies that are not installed are
    listed as such.

    Examples
    --------
    >>> import eigenlabel as el
    >>> el.show_versions()
    eigenlabel ...
    Python ...
    """
    lines = [("eigenlabel", __version__), ("Python", sys.version.split()[0])]
    lines += [("machine", f"{platform.system()} {platform.machine()}")]
    lines += [(name, _version_of(name)) for name in _dependencies()]
    for library in threadpool_info():
        about = f"{library['internal_api']} {library['version']}, {library['num_threads']} threads"
        lines.append((library["user_api"], about))
    width = max(len(name) for name, _ in lines)
    print("\n".join(f"{name:{width}} {text}" for name, text in lines))


def _dependencies() -> list[str]:
    """Return the names of all dependencies that users may have, without those of developers."""
    found = {"numpy", "scipy", "scikit-learn", "joblib", "skops", "threadpoolctl"}
    try:
        declared = requires("eigenlabel") or []
    except PackageNotFoundError:  # the folder of the source is on the path, without installation
        declared = []
    for line in declared:
        if "extra == 'dev'" not in line.replace('"', "'"):
            found.add(line.split(";")[0].split("[")[0].split("<")[0].split(">")[0].strip())
    return sorted(found)


def _version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
