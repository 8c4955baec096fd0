"""Records of runs as CSV files, one row for each run: ``results/papers`` contains them."""

import csv
import json
from collections.abc import Iterable, Mapping
from typing import Any

from eigenlabel.datasets import DataError
from eigenlabel.datasets.files.atomic import writing
from eigenlabel.metrics import ALL_METRICS

Record = dict[str, Any]
BEFORE = ("data", "method", "split", "seed", "train_size", "test_size", "n_features", "n_labels")
SIZES = BEFORE[2:]
AFTER = ("fit_seconds", "cpu_seconds", "peak_mib", "parameters")
VERSIONS = ("eigenlabel", "python", "numpy", "scipy", "sklearn")


def write_csv(records: Iterable[Mapping[str, Any]], path: Any) -> int:
    """Write the records of runs that succeeded to a CSV file.

    Parameters
    ----------
    records : list of dict
        The records.
    path : str or Path
        The file.

    Returns
    -------
    int
        The number of rows.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from eigenlabel.reproduce import read_csv, write_csv
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "records.csv"
    ...     write_csv([], path), read_csv(path)
    (0, [])
    """
    rows = [record for record in records if "error" not in record]
    found = {name for record in rows for name in record["metrics"]}
    metrics = [name for name in ALL_METRICS if name in found]
    with writing(path, encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow((*BEFORE, *metrics, *AFTER, *VERSIONS, "key"))
        for record in rows:
            cells: list[Any] = [record.get(name, "") for name in BEFORE]
            cells += [_shorten(record["metrics"].get(name)) for name in metrics]
            cells += [record["seconds"]["fit"], record.get("cpu_seconds", "")]
            cells.append("" if record["peak_mib"] is None else f"{record['peak_mib']:.1f}")
            cells.append(json.dumps(record.get("parameters", {}), sort_keys=True))
            cells += [record["versions"].get(name, "") for name in VERSIONS]
            writer.writerow([*cells, record["key"]])
    return len(rows)


def _shorten(value: float | None) -> str:
    """Return a figure with ten digits, more than any two processors agree on."""
    return "" if value is None else f"{value:.10g}"


def read_csv(path: Any) -> list[Record]:
    """Read records from a CSV file that :func:`write_csv` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    list of dict
        The records, as comparisons and drawings expect them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from eigenlabel.reproduce import read_csv, write_csv
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "records.csv"
    ...     write_csv([], path), read_csv(path)
    (0, [])
    """
    with open(path, newline="", encoding="utf-8") as stream:
        rows = csv.DictReader(stream)
        if not {*BEFORE, *AFTER, "key"} <= set(rows.fieldnames or ()):
            raise DataError(path, "not a file of records: its first line lacks names of columns")
        return [_record(row, path, number) for number, row in enumerate(rows, 2)]


def _record(row: Mapping[str, str], path: Any, number: int) -> Record:
    try:
        return {
            "data": row["data"],
            "method": row["method"],
            **{name: int(row[name]) for name in SIZES},
            "metrics": {
                name: float(value) if value else None
                for name, value in row.items()
                if name in ALL_METRICS
            },
            "seconds": {"fit": float(row["fit_seconds"])},
            "cpu_seconds": float(row["cpu_seconds"]) if row["cpu_seconds"] else None,
            "peak_mib": float(row["peak_mib"]) if row["peak_mib"] else None,
            "parameters": json.loads(row["parameters"]),
            "versions": {name: row[name] for name in VERSIONS if row.get(name)},
            "key": row["key"],
        }
    except (TypeError, ValueError) as error:
        raise DataError(path, f"not a record ({error})", number) from error
