"""``eigenlabel report``: a page from a folder of records, or from a model and data."""

import argparse
from pathlib import Path

from eigenlabel.cli.data_files import (
    add_data_options,
    check_output,
    open_model,
    read_data,
    reader_options,
)
from eigenlabel.cli.options import Command, UsageError
from eigenlabel.cli.pages import (
    comparison_sections,
    comparison_subtitle,
    comparison_title,
    evaluated,
    write_page,
)
from eigenlabel.datasets import DataError
from eigenlabel.experiment import read_records


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="FOLDER|MODEL", help="a folder of records, or a model file"
    )
    parser.add_argument(
        "--data", metavar="DATA", help="for a model: the labelled data to evaluate it on"
    )
    parser.add_argument("-o", "--output", metavar="PAGE", required=True, help="the HTML file")
    parser.add_argument(
        "--reference", metavar="METHOD", help="the method that the others are tested against"
    )
    add_data_options(parser)


def _report(arguments: argparse.Namespace) -> None:
    check_output(arguments.output, arguments.source, *filter(None, [arguments.data]))
    if Path(arguments.source).is_dir():
        _report_records(arguments)
        return
    saved = open_model(arguments.source)
    if arguments.data is None:
        raise UsageError("the page of a model needs labelled data: pass --data")
    data = read_data(arguments.data, reader_options(arguments), like=saved)
    _, sections = evaluated(saved, data)
    title = f"{Path(arguments.source).name} on {data.source}"
    write_page(title, sections, arguments.output, arguments)


def _report_records(arguments: argparse.Namespace) -> None:
    records = read_records(arguments.source)
    if not records:
        raise DataError(arguments.source, "contains no records")
    last = {r["key"]: r for r in records}
    metrics = list(dict.fromkeys(m for r in records for m in r.get("metrics", ())))
    name = last[records[-1]["key"]]["protocol"]
    subtitle = comparison_subtitle(name, records)
    sections = comparison_sections(list(last.values()), metrics, arguments.reference)
    title = comparison_title(list(last.values()))
    write_page(title, sections, arguments.output, arguments, subtitle)


REPORT = Command(_add_options, _report)
