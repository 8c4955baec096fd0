"""``eigenlabel fit``, ``predict`` and ``evaluate``: models from data files."""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline, make_pipeline

from eigenlabel import catalogue, distributed, report
from eigenlabel.cli.data_files import (
    add_data_options,
    check_output,
    data_path,
    dense,
    open_model,
    read_data,
    reader_options,
)
from eigenlabel.cli.messages import print_notes
from eigenlabel.cli.options import (
    Command,
    UsageError,
    choose,
    parse_settings,
    positive,
    suggest,
)
from eigenlabel.cli.pages import about, evaluated
from eigenlabel.cli.predictions import FORMS, write_predictions
from eigenlabel.cli.tables import format_table
from eigenlabel.datasets import DataError, Dataset
from eigenlabel.datasets.files.atomic import is_standard_output
from eigenlabel.inputs.progress import watched
from eigenlabel.persistence import SavedModel, save_model
from eigenlabel.preprocessing import make_preparation, prepared_views
from eigenlabel.preprocessing.preparation import PREPARATIONS

Assemble = Callable[[Any, Any], Any]
EVERYDAY = (
    *("shared-subspace", "shared-subspace-rbf", "blend"),
    *("ridge", "linear-svm", "logistic", "MLkNN"),
)


class _ListMethods(argparse.Action):
    """The option that prints all methods and exits, as --help does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        rows = [(name, method.about) for name, method in catalogue.METHODS.items()]
        print(format_table(("method", "description"), rows))
        parser.exit()


def _add_fit_options(fit: argparse.ArgumentParser) -> None:
    add_fitting_options(fit)
    known = "; ".join(f"{name}: {catalogue.METHODS[name].about}" for name in EVERYDAY)
    method = fit.add_argument(
        "--method",
        default="shared-subspace",
        metavar="NAME",
        help=f"{known}; --list-methods lists all (default shared-subspace)",
    )
    suggest(method, catalogue.METHODS)
    fit.add_argument(
        "--list-methods", action=_ListMethods, nargs=0, help="list all methods and exit"
    )
    fit.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a parameter of the method; may be repeated",
    )
    fit.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="compute the statistics of the data on the workers of a Dask scheduler, such as "
        "tcp://host:8786; for the methods shared-subspace and ridge",
    )


def _add_predict_options(predict: argparse.ArgumentParser) -> None:
    predict.add_argument("model", metavar="MODEL", help="the model file")
    predict.add_argument("data", metavar="DATA", help="the samples to predict")
    predict.add_argument(
        "-o", "--output", metavar="FILE", help="output file (default -: standard output)"
    )
    predict.add_argument(
        "--format",
        choices=FORMS,
        help="output format (by default it follows from the name of the output, or is csv)",
    )
    shown = predict.add_mutually_exclusive_group()
    shown.add_argument(
        "--probabilities",
        action="store_const",
        dest="values",
        const="probabilities",
        help="also write the probability of every label",
    )
    shown.add_argument(
        "--scores",
        action="store_const",
        dest="values",
        const="scores",
        help="also write the score of every label",
    )
    predict.add_argument(
        "--top",
        type=positive,
        metavar="K",
        help="write the K likeliest labels instead of the predicted labels; those with the best "
        "scores if the model has no probabilities",
    )
    predict.add_argument(
        "--rows", type=positive, default=4096, help="samples per piece (default 4096)"
    )
    add_data_options(predict)


def _add_evaluate_options(evaluate: argparse.ArgumentParser) -> None:
    evaluate.add_argument("model", metavar="MODEL", help="the model file")
    evaluate.add_argument("data", metavar="DATA", help="the labelled samples")
    evaluate.add_argument("--json", action="store_true", help="print the metrics as JSON")
    evaluate.add_argument("--report", metavar="PAGE", help="write an HTML page to this file")
    add_data_options(evaluate)


def add_fitting_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that fit a model."""
    parser.add_argument(
        "data", metavar="DATA", help="a file, a known data set (see 'datasets list'), or debtags"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="MODEL",
        required=True,
        help="the model file to write, such as model.skops",
    )
    parser.add_argument(
        "--prepare",
        choices=PREPARATIONS,
        default="auto",
        help="preparation of the features (default auto)",
    )
    add_data_options(parser)


def train(
    arguments: argparse.Namespace, method: Any, assemble: Assemble = make_pipeline
) -> tuple[SavedModel, Dataset, float]:
    """Fit a method to a data file and save it; return the model, the data and the seconds.

    ``assemble`` makes the model from the preparation of the features and the method.
    """
    try:
        return _fit_and_save(arguments, method, assemble)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("nothing was written") from None


def _fit_and_save(
    arguments: argparse.Namespace, method: Any, assemble: Assemble
) -> tuple[SavedModel, Dataset, float]:
    check_output(arguments.output, arguments.data)
    data = read_data(arguments.data, reader_options(arguments))
    print(data)
    print_notes(data.notes, stream=sys.stdout)
    _check_folds(arguments.data, data, method)
    prepare = make_preparation(arguments.prepare, data.X, **data.layout)
    views = prepared_views(prepare, data.views, data.X.shape[1])
    method = catalogue.with_views(method, views)
    start = time.perf_counter()
    if getattr(arguments, "cluster", None):
        model = _fit_on_cluster(prepare, method, data, arguments.cluster)
    else:
        with watched():
            model = assemble(prepare, method).fit(data.X, dense(data.Y))
    seconds = time.perf_counter() - start
    noted = {"data": data.source, "samples": data.X.shape[0], "method": type(method).__name__}
    saved = SavedModel(
        model,
        data.feature_names,
        data.label_names,
        categories=data.categories,
        views=data.views,
        options=data.options,
        about=noted,
        column_types=data.column_types,
        words=data.words,
    )
    save_model(saved, arguments.output)
    return saved, data, seconds


def _check_folds(name: str, data: Dataset, method: Any) -> None:
    """Raise DataError if there are fewer samples than folds, before anything is fitted."""
    n, folds = data.X.shape[0], getattr(method, "cv", None)
    if isinstance(folds, int) and n < folds:
        hint = "use fewer with tune --cv or fit --set cv=2"
        raise DataError(name, f"{n} samples are too few for {folds} folds; {hint}")


def _fit_on_cluster(prepare: Any, method: Any, data: Dataset, address: str) -> Pipeline:
    """Prepare the samples in this process, and compute their statistics on the workers."""
    model = make_pipeline(prepare, method)  # its steps are fitted one by one
    X = model[:-1].fit_transform(data.X, dense(data.Y))
    with distributed.connect(address) as client:
        if not client.scheduler_info()["workers"]:
            print(f"waiting for workers to connect to the scheduler at {address}")
            distributed.wait_for_workers(client)
        distributed.fit(method, X, dense(data.Y)).finish()
    return model


def print_fit(saved: SavedModel, seconds: float, output: str) -> None:
    """Print the parameters that a model chose, its time and its file."""
    chosen = catalogue.chosen_parameters(saved.model).items()
    if chosen:
        words = (f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}" for k, v in chosen)
        print("chosen: " + ", ".join(words))
    print(f"fitted in {seconds:.1f} s, saved to {output}")


def _fit(arguments: argparse.Namespace) -> None:
    choose("method", arguments.method, catalogue.METHODS, "'eigenlabel fit --list-methods'")
    settings = parse_settings(arguments.set)
    known = catalogue.make(arguments.method, grid={}).get_params()
    strange = [name for name in settings if name not in known]
    if strange:
        raise UsageError(
            f"{arguments.method} has no parameter {strange[0]!r}; it has {', '.join(known)}"
        )
    method = catalogue.make(arguments.method, settings)
    saved, _, seconds = train(arguments, method)
    print_fit(saved, seconds, arguments.output)


def _predict(arguments: argparse.Namespace) -> None:
    if arguments.output == "-" or (arguments.output and is_standard_output(arguments.output)):
        arguments.output = None
    check_output(arguments.output, arguments.data, arguments.model)
    saved = open_model(arguments.model)
    if arguments.top is not None and not 1 <= arguments.top <= len(saved.label_names):
        raise UsageError(
            f"--top must be between 1 and {len(saved.label_names)}, the number of labels"
        )
    path = data_path(arguments.data)
    count, notes = write_predictions(
        saved,
        path,
        reader_options(arguments),
        output=arguments.output,
        form=arguments.format,
        values=arguments.values,
        top=arguments.top,
        rows=arguments.rows,
    )
    print_notes(notes)
    if arguments.output:
        print(f"{count} samples predicted, written to {arguments.output}")


def _evaluate(arguments: argparse.Namespace) -> None:
    check_output(arguments.report, arguments.data, arguments.model)
    saved = open_model(arguments.model)
    data = read_data(arguments.data, reader_options(arguments), like=saved)
    print_notes(data.notes)
    found, sections = evaluated(saved, data)
    if arguments.json:
        print(json.dumps(found))
    else:
        print(data)
        print(format_table(("metric", "value"), [(k, f"{v:.4f}") for k, v in found.items()]))
    if arguments.report:
        title = f"{Path(arguments.model).name} on {data.source}"
        report.write(report.page(title, sections, about=about(arguments)), arguments.report)


FIT = Command(_add_fit_options, _fit)


PREDICT = Command(_add_predict_options, _predict)


EVALUATE = Command(_add_evaluate_options, _evaluate)
