"""Results of long benchmarks as rows of a CSV file: a killed run goes on where it stopped."""

import csv
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "results"


class Rows:
    """The rows of one CSV file below ``results``; each row is on disk before the next begins.

    Parameters
    ----------
    name : str
        The name of the file, without suffix.
    keys : sequence of str
        The columns that identify a row.
    values : sequence of str
        The other columns.
    """

    def __init__(self, name, keys, values):
        self.path = RESULTS / f"{name}.csv"
        self.keys, self.values = list(keys), list(values)
        self.rows = []
        if self.path.exists():
            with self.path.open(newline="", encoding="utf-8") as file:
                self.rows = [row for row in csv.DictReader(file) if None not in row.values()]
        self.done = {self._key(row) for row in self.rows}

    def _key(self, row):
        return tuple(str(row[key]) for key in self.keys)

    def missing(self, **key):
        """Return True if there is no row with this key yet."""
        return self._key(key) not in self.done

    def find(self, **key):
        """Return the row with this key, or None."""
        return next((row for row in self.rows if self._key(row) == self._key(key)), None)

    def add(self, **row):
        """Write a row."""
        self.path.parent.mkdir(exist_ok=True)
        new = not self.path.exists()
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [*self.keys, *self.values], lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)
        self.rows.append({key: str(row.get(key, "")) for key in (*self.keys, *self.values)})
        self.done.add(self._key(row))
