"""Files of records: whole lines, one writer at a time."""

import os

import pytest

from eigenlabel.datasets import DataError
from eigenlabel.experiment import read_records, run
from eigenlabel.experiment.records import appending
from protocols import small_protocol


def test_a_second_run_in_the_same_folder_raises(tmp_path):
    with appending(tmp_path), pytest.raises(DataError, match="another run is writing"):
        run(small_protocol(), tmp_path)


def test_the_error_of_an_invalid_record_names_its_line(tmp_path):
    for text in ("nonsense\n", '{"key": 1}\n', "[]\n"):
        (tmp_path / "records.jsonl").write_text('{"key":1,"data":1,"method":1,"split":1}\n' + text)
        with pytest.raises(DataError, match="line 2: not a record"):
            read_records(tmp_path)


def test_a_full_disk_leaves_whole_records(tmp_path, monkeypatch):
    write = os.write
    with appending(tmp_path) as records:
        records.add({"key": "a", "data": "d", "method": "m", "split": 0})
        monkeypatch.setattr(os, "write", lambda stream, line: write(stream, line[:5]))
        with pytest.raises(OSError, match=r"No space left.*kept: .*records\.jsonl"):
            records.add({"key": "b", "data": "d", "method": "m", "split": 0})
        monkeypatch.undo()
        records.add({"key": "c", "data": "d", "method": "m", "split": 0})
    assert [r["key"] for r in read_records(tmp_path)] == ["a", "c"]


def test_a_line_that_was_cut_off_is_removed_before_more_is_written(tmp_path):
    file = tmp_path / "deep" / "er" / "records.jsonl"
    with appending(file.parent) as records:
        records.add({"key": "a", "data": "d", "method": "m", "split": 0})
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"key": "cut o')
    with appending(file.parent) as records:
        assert file.read_bytes() == whole
        with pytest.raises(ValueError, match="JSON"):
            records.add({"key": "b", "data": "d", "method": "m", "split": 0, "x": float("nan")})
    assert len(read_records(file.parent)) == 1
