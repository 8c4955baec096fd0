"""The commands: their texts, and the modules that they are in, imported when they are called.

``eigenlabel --help`` needs the texts alone. A command imports numpy, scikit-learn and more, which
takes longer than everything that the help does.
"""

from importlib import import_module
from typing import NamedTuple

from eigenlabel.cli.options import Command


class CommandEntry(NamedTuple):
    """A command in the help.

    Attributes
    ----------
    name : str
        The word that calls it. Its module has a Command of this name in capitals.
    module : str
        The module in this folder.
    help : str
        What it does, in a line.
    description : str
        What its own help says first.
    """

    name: str
    module: str
    help: str
    description: str

    def load(self) -> Command:
        """Import the command."""
        found = getattr(import_module(f"eigenlabel.cli.{self.module}"), self.name.upper())
        assert isinstance(found, Command)
        return found


ENTRIES = (
    CommandEntry(
        "demo",
        "demo",
        "tune a model on Debian's packages and their tags, and write a page that shows it",
        "Learn the tags of some packages of Debian 12 from their words, dependencies and "
        "section, predict the tags of packages from other sources, and write a page that "
        "shows the result. This takes about half a minute.",
    ),
    CommandEntry(
        "fit",
        "fit_and_predict",
        "fit a method to a data file and save the model",
        "Fit any method of the catalogue. --set changes its parameters.",
    ),
    CommandEntry(
        "tune",
        "tune",
        "tune a model or a blend of models on a data file, and optionally write a page",
        "Tune on held-out scores, and fit the best model with its thresholds. By default "
        "this is one shared-subspace model: the score of every alpha, beta and dimension "
        "of a grid is exact. --effort good blends several kinds of models, which is "
        "slower and better. A page can show the scores and the labels.",
    ),
    CommandEntry(
        "predict",
        "fit_and_predict",
        "predict the labels of a data file with a saved model",
        "Predict the samples in pieces, so that the file may be larger than memory.",
    ),
    CommandEntry(
        "evaluate",
        "fit_and_predict",
        "compare a saved model's predictions with the labels of a data file",
        "Print every metric. docs/guide/judging.md explains their conventions.",
    ),
    CommandEntry(
        "export",
        "export",
        "write a saved model as an ONNX file, which predicts without Python",
        "Write a model that is linear in features or kernel values as an ONNX file, with "
        "its thresholds and probabilities. The file is checked against the model before "
        "it is written. Needs the extra onnx.",
    ),
    CommandEntry(
        "explain",
        "explain",
        "explain the labels that a saved model predicts for a sample",
        "Print what each feature or training sample adds to the scores of the labels of a"
        " sample. The contributions add up to the score. A page can show them with the "
        "words marked in the text.",
    ),
    CommandEntry(
        "audit",
        "audit",
        "find the labels of a data file that are likely wrong or missing",
        "Tune a shared-subspace model, and rank the labels of all samples by how much the"
        " held-out probabilities and the other labels of the sample contradict them. No "
        "label is changed.",
    ),
    CommandEntry(
        "compare",
        "compare",
        "compare methods on data files, or run a protocol file",
        "Run methods on splits of data sets, test their differences, and optionally write"
        " a page. DATA may be one protocol in TOML (docs/guide/experiments.md). A stopped"
        " run continues where it stopped when the command is repeated.",
    ),
    CommandEntry(
        "reproduce",
        "reproduce",
        "run a table of a paper again, and print the paper's numbers, ours and the difference",
        "Data sets are searched in the folder EIGENLABEL_DATA, or in the cache. "
        "'eigenlabel datasets fetch --all-for TABLE' downloads those that are available.",
    ),
    CommandEntry(
        "report",
        "report",
        "write a page from a folder of records, or from a model and data",
        "Write a page that shows the records of a comparison, or a saved model on "
        "labelled data. The page is a single file without external resources.",
    ),
    CommandEntry(
        "datasets",
        "datasets",
        "list, describe, download and find known data sets",
        "Known data sets are stored in the folder EIGENLABEL_DATA, or in the user's cache.",
    ),
    CommandEntry(
        "completion",
        "completion",
        "print a script that completes commands and options in a shell",
        "Print a script for bash, zsh or fish, which completes commands, options, their "
        "values and the names of files. Load it in the start file of the shell, as in: "
        "source <(eigenlabel completion bash)",
    ),
)
