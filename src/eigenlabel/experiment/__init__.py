"""Experiments: a protocol in, records out, resumable at any point."""

from eigenlabel.experiment._protocol import Data, Method, Protocol, Splits
from eigenlabel.experiment._records import read_records
from eigenlabel.experiment._run import Plan, plan, run

__all__ = ["Data", "Method", "Plan", "Protocol", "Splits", "plan", "read_records", "run"]
