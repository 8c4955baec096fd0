"""``eigenlabel compare``: methods on splits of data sets, with statistical tests and a page."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eigenlabel.catalogue import METHODS
from eigenlabel.cli.data_files import add_data_options, check_output, read_data, reader_options
from eigenlabel.cli.experiments import add_running_options, check_failures, get_records
from eigenlabel.cli.messages import print_notes
from eigenlabel.cli.options import Command, choose, parse_value, positive, words
from eigenlabel.cli.pages import (
    comparison_sections,
    comparison_subtitle,
    comparison_title,
    example_sections,
    write_page,
)
from eigenlabel.cli.tables import format_table
from eigenlabel.comparison import summarise
from eigenlabel.datasets import Dataset
from eigenlabel.experiment import Data, Method, Protocol, Splits, plan
from eigenlabel.experiment.protocol import DEFAULT_METRICS, SPLITS
from eigenlabel.metrics import METRICS
from eigenlabel.preprocessing.preparation import PREPARATIONS

DEFAULT_METHODS = ("shared-subspace", "ridge", "linear-svm", "logistic")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", metavar="DATA", nargs="+", help="data files, or one protocol")
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", required=True, help="folder for the records of runs"
    )
    parser.add_argument(
        "--methods",
        type=words,
        metavar="A,B,...",
        help=f"methods to compare (default {','.join(DEFAULT_METHODS)})",
    )
    parser.add_argument(
        "--kind", choices=SPLITS, default="shuffle", help="kind of splits (default shuffle)"
    )
    parser.add_argument("--splits", type=positive, metavar="N", help="number of splits (default 5)")
    parser.add_argument(
        "--train-size",
        type=parse_value,
        metavar="S",
        help="share or number of the samples to train on",
    )
    parser.add_argument(
        "--metrics", type=words, metavar="A,B,...", help=f"any of {', '.join(METRICS)}"
    )
    parser.add_argument(
        "--min-positives", type=int, default=0, help="drop labels with fewer positive samples"
    )
    parser.add_argument(
        "--min-documents", type=int, default=0, help="drop features that fewer samples have"
    )
    parser.add_argument(
        "--prepare",
        choices=PREPARATIONS,
        default="auto",
        help="preparation of the features (default auto)",
    )
    parser.add_argument(
        "--precomputed",
        action="store_true",
        help="the features are kernel matrices of all samples, one or one for each view; for "
        "methods whose names begin with kernel:",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the splits (default 0)")
    parser.add_argument(
        "--reference", metavar="METHOD", help="the method that the others are tested against"
    )
    add_running_options(parser)
    add_data_options(parser)


def _compare(arguments: argparse.Namespace) -> None:
    check_output(arguments.report, *arguments.data)
    protocol = _protocol(arguments)
    if arguments.dry_run:
        print(plan(protocol, arguments.output))
        return
    records = get_records(protocol, arguments.output, arguments)
    good = [r for r in records if "error" not in r]
    if not good:
        check_failures(records)
    reference = arguments.reference or good[0]["method"]
    _print_summary(good, protocol.metrics, reference, arguments.format)
    if arguments.report:
        sections = comparison_sections(records, protocol.metrics, reference)
        if not arguments.so_far:  # these sections show a model that is fitted for them
            sections += example_sections(protocol, reference)
        title = comparison_title(good)
        subtitle = comparison_subtitle(protocol.name, good)
        write_page(title, sections, arguments.report, arguments, subtitle)
    check_failures(records)


def _protocol(arguments: argparse.Namespace) -> Protocol:
    """Return the protocol in a file, or the one that the options describe."""
    if [Path(name).suffix for name in arguments.data] == [".toml"]:
        return _narrowed(Protocol.from_toml(arguments.data[0]), arguments)
    for name in arguments.methods or ():
        choose("method", name, METHODS, "'eigenlabel fit --list-methods'")
    for name in arguments.metrics or ():
        choose("metric", name, METRICS, "'eigenlabel compare --help'")
    options = reader_options(arguments)
    datasets = [
        Data(
            Path(name).name,
            _read_with_notes(name, options),
            min_positives=arguments.min_positives,
            min_documents=arguments.min_documents,
            prepare=arguments.prepare,
            precomputed=arguments.precomputed,
        )
        for name in arguments.data
    ]
    return Protocol(
        datasets,
        [Method(name) for name in arguments.methods or DEFAULT_METHODS],
        Splits(arguments.kind, arguments.splits or 5, arguments.train_size),
        tuple(arguments.metrics or DEFAULT_METRICS),
        arguments.seed,
        "compare",
    )


def _narrowed(protocol: Protocol, arguments: argparse.Namespace) -> Protocol:
    """Return a protocol with the methods and the number of splits that the options select."""
    if arguments.methods:
        names = [m.name for m in protocol.methods]
        for name in arguments.methods:
            choose("method", name, names, f"the protocol has {', '.join(names)}; --dry-run")
        chosen = [m for m in protocol.methods if m.name in arguments.methods]
        protocol = replace(protocol, methods=chosen)
    if arguments.splits:
        protocol = replace(protocol, splits=replace(protocol.splits, n_splits=arguments.splits))
    return protocol


def _read_with_notes(name: str, options: dict[str, Any]) -> Dataset:
    data = read_data(name, options)
    print_notes(data.notes, source=name)
    return data


def _print_summary(
    records: Sequence[Mapping[str, Any]], metrics: Sequence[str], reference: str, form: str
) -> None:
    """Print a table for each metric: means, wins of the reference method, and p-values."""
    for metric, found in summarise(records, metrics, reference).items():
        rows = []
        for data, row in found["means"].items():
            for method, (mean, std, n) in row.items():
                pair = found["against"][data].get(method)
                tests = ("", "")
                if pair is not None:
                    tests = (
                        f"{pair.wins}/{pair.ties}/{pair.losses}",
                        f"{found['holm'][data, method]:.3g}",
                    )
                figure = f"{mean:.4f} ± {std:.4f}" if n > 1 else f"{mean:.4f}"
                rows.append((data, method, figure, str(n), *tests))
        if not rows and form == "text":
            print(f"{metric}: no method has the {METRICS[metric].reads} that it reads.\n")
            continue
        header = ("data", "method", metric, "splits", f"{reference} won/tied/lost", "p (Holm)")
        print(format_table(header, rows, form))
        ranking = found["ranking"]
        if ranking is not None and form == "text":
            ranks = sorted(zip(ranking.ranks, ranking.methods, strict=True))
            print(
                "average ranks: "
                + ", ".join(f"{m} {r:.2f}" for r, m in ranks)
                + f"; critical difference {ranking.critical_difference:.2f}"
            )
        print()


COMPARE = Command(_add_options, _compare)
