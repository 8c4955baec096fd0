"""Experiments: a protocol goes in, records come out, and a stopped run can be continued."""

from eigenlabel.experiment.data_and_splits import draw_splits, load_data
from eigenlabel.experiment.protocol import Data, Method, Protocol, Splits
from eigenlabel.experiment.records import read_records
from eigenlabel.experiment.running import Plan, plan, run
from eigenlabel.experiment.task import Fitted, fit_split, scores_of

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
