"""Experiments: a protocol in, records out, resumable at any point."""

from eigenlabel.experiment.protocol import Data, Method, Protocol, Splits
from eigenlabel.experiment.records import read_records
from eigenlabel.experiment.running import Plan, plan, run
from eigenlabel.experiment.task import Fitted, draw_splits, fit_split, load_data, scores_of

__all__ = [
    "Data",
    "Fitted",
    "Method",
    "Plan",
    "Protocol",
    "Splits",
    "draw_splits",
    "fit_split",
    "load_data",
    "plan",
    "read_records",
    "run",
    "scores_of",
]
