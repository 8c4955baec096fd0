"""Results of any kind as small frames of pandas or polars."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from eigenlabel.inputs.frames import make_frame

Row = dict[str, Any]


def to_frame(result: Any, library: str | None = None) -> Any:
    """Return a result of this library as a data frame.

    =====================================================  =====================================
    result                                                 rows
    =====================================================  =====================================
    ``metrics.evaluate(...)``                              metrics
    ``model.cv_results_``                                  grid points
    ``blend.leaderboard_``                                 the blend and its members
    ``dimensions_path(...)``                               dimensions, with one column per fold
    ``inspection.explain(...)``, ``explain_label(...)``    terms of the sums
    ``inspection.find_label_issues(...)``                  suspicious cells
    records of ``experiment.run(...)``                     runs, with one column per metric
    ``comparison.summarise(...)``                          metrics, data sets and methods
    =====================================================  =====================================

    Parameters
    ----------
    result : object
        The result.
    library : {"pandas", "polars"} or None, default=None
        The library of the frame. None is pandas, or polars if pandas is not installed.

    Returns
    -------
    frame : DataFrame
        The frame.

    Examples
    --------
    >>> import eigenlabel as el
    >>> figures = el.metrics.evaluate([[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.7]])
    >>> el.to_frame(figures, "polars").columns
    ['name', 'value']
    """
    if hasattr(result, "to_frame"):
        return result.to_frame(library=library)
    return make_frame(_columns(result), library)


def _columns(result: Any) -> dict[str, list[Any]]:
    """Return the columns of a result that has no frame of its own."""
    if isinstance(result, Mapping):
        if _is_summary(result):
            return _by_row(list(_summary_rows(result)))
        return _of_mapping(result)
    if isinstance(result, tuple) and hasattr(result, "_asdict"):
        return _of_mapping(result._asdict())
    if isinstance(result, Sequence) and result and all(isinstance(r, Mapping) for r in result):
        return _by_row([_flat(row) for row in result])
    raise TypeError(
        f"{type(result).__name__} is no result with rows. Pass a table of results, such as "
        "cv_results_, leaderboard_, the figures of metrics.evaluate, or records of an experiment."
    )


def _of_mapping(result: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return columns of equal length; matrices have a column for each of theirs."""
    if all(np.ndim(value) == 0 for value in result.values()):
        return {"name": list(result), "value": [_plain(v) for v in result.values()]}
    columns: dict[str, list[Any]] = {}
    for name, values in result.items():
        if np.ndim(values) == 2:
            matrix = np.asarray(values)
            columns |= {f"{name}_{k}": matrix[:, k].tolist() for k in range(matrix.shape[1])}
        else:
            columns[str(name)] = [_plain(value) for value in values]
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise TypeError(
            f"The columns have different lengths ({sorted(lengths)}): this is no table."
        )
    return columns


def _by_row(rows: list[Row]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [_plain(row.get(name)) for row in rows] for name in names}


def _flat(row: Mapping[str, Any]) -> Row:
    """Return a row with the figures of inner mappings as columns, and other parts as text."""
    found: Row = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= value if name == "metrics" else {f"{name}.{k}": v for k, v in value.items()}
        else:
            found[name] = value
    return {name: _cell(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    """Return a number of numpy as one of Python; dicts and masked cells as text and None."""
    if value is np.ma.masked:
        return None
    if isinstance(value, np.generic):
        return value.item()
    return _cell(value)


def _cell(value: Any) -> Any:
    simple = value is None or isinstance(value, (str, int, float, bool, np.generic))
    return value if simple else str(value)


def _is_summary(result: Mapping[str, Any]) -> bool:
    """Return True for what ``comparison.summarise`` returns."""
    return bool(result) and all(
        isinstance(part, Mapping) and "means" in part and "holm" in part for part in result.values()
    )


def _summary_rows(result: Mapping[str, Any]) -> Iterator[Row]:
    for metric, part in result.items():
        for data, methods in part["means"].items():
            for method, (mean, deviation, splits) in methods.items():
                pair = part["against"].get(data, {}).get(method)
                yield {
                    "metric": metric,
                    "data": data,
                    "method": method,
                    "mean": mean,
                    "deviation": deviation,
                    "splits": splits,
                    "won": None if pair is None else pair.losses,
                    "tied": None if pair is None else pair.ties,
                    "lost": None if pair is None else pair.wins,
                    "p_holm": part["holm"].get((data, method)),
                }
