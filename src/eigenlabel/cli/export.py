"""``eigenlabel export``: a saved model as an ONNX file."""

import argparse
from pathlib import Path

from eigenlabel.cli.data_files import check_output
from eigenlabel.cli.options import Command, words
from eigenlabel.export.onnx_files import export_onnx
from eigenlabel.export.predictions import OUTPUTS
from eigenlabel.persistence import load_model


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="the model file")
    parser.add_argument("output", metavar="FILE", help="the file to write, such as model.onnx")
    parser.add_argument(
        "--outputs",
        type=words,
        metavar="A,B,...",
        help=f"some of {', '.join(OUTPUTS)} (default: all that the model has)",
    )


def _export(arguments: argparse.Namespace) -> None:
    check_output(arguments.output, arguments.model)
    saved = load_model(arguments.model)
    export_onnx(saved, arguments.output, outputs=arguments.outputs)
    size = Path(arguments.output).stat().st_size
    print(
        f"written to {arguments.output} ({size / 1e6:.1f} MB): input X with "
        f"{len(saved.feature_names)} columns, {len(saved.label_names)} labels"
    )


EXPORT = Command(_add_options, _export)
