"""Fetching, against a server of our own that behaves well or badly on demand."""

import hashlib
import http.server
import io
import os
import resource
import signal
import socket
import stat
import threading
import time
import urllib.request

import pytest

from eigenlabel.datasets import DataError, fetch, find
from eigenlabel.datasets import fetching as _fetch
from eigenlabel.datasets import registry as _registry

DATA = bytes(range(256)) * 2000  # eight chunks, and no two ends alike
ENTRY = """[toy]
title = "Toy"
home = "https://example.invalid/toy"
licence = "none"
serves = ["mddm-table1"]
defects = []
base = "{base}"
files = [{{ path = "{path}", size = {size}, sha256 = "{sha256}", source = "toy" }}]
[toy.counts]
all = {{ samples = 2, features = 3, labels = 2, cardinality = 1.5 }}
"""


class Handler(http.server.BaseHTTPRequestHandler):
    """Answer each request by the next of the server's plans; without one, as a good server."""

    def do_GET(self):
        self.server.seen.append((self.path, self.headers.get("Range")))
        plan = self.server.plans.pop(0) if self.server.plans else "good"
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        if isinstance(plan, int):
            self.send_error(plan)
        elif plan.startswith("to "):
            self.send_response(302)
            self.send_header("Location", plan[3:])
            self.end_headers()
        elif plan == "hang up":
            self.close_connection = True
        elif plan == "silence":
            time.sleep(0.5)
        elif plan == "cut chunk":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"20000\r\n" + DATA[:70000])
        elif plan == "endless":
            self.send_response(200)
            self.end_headers()
            self.pour()
        elif plan == "no range":
            self.give(DATA, 200, 0)
        elif plan == "other range":
            self.give(DATA, 206, 0)
        elif plan == "wrong":
            self.give(DATA[::-1], 200, 0)
        else:
            if plan == "together":
                self.server.meet.wait(10)
            half = start + (len(DATA) - start) // 2
            self.give(DATA, 206 if start else 200, start, half if plan == "cut" else None)

    def give(self, data, code, start, end=None):
        self.send_response(code)
        self.send_header("Content-Length", str(len(data) - start))
        if code == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[start:end])

    def pour(self):
        try:
            while True:
                self.server.poured += self.wfile.write(bytes(2**16))
        except OSError:  # the other side has had enough
            self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.plans, server.seen, server.poured = [], [], 0
        server.meet = threading.Barrier(2)
        server.url = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder; no waits, no proxies."""
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(_fetch, "WAITS", (0.0, 0.0, 0.0))
    return tmp_path / "data"


@pytest.fixture
def register(tmp_path, monkeypatch):
    def register(base, path="a/toy.bin", data=DATA):
        sha256 = hashlib.sha256(data).hexdigest()
        text = ENTRY.format(base=base, path=path, size=len(data), sha256=sha256)
        (tmp_path / "registry.toml").write_text(text)
        monkeypatch.setattr(_registry, "REGISTRY", tmp_path / "registry.toml")

    return register


@pytest.fixture
def toy(folder, register, server):
    """The place of the one file of a data set that our server has."""
    register(server.url)
    return folder / "a" / "toy.bin"


def leave(toy, data, name="toy.bin.part"):
    toy.parent.mkdir(parents=True)
    left = toy.with_name(name)
    left.write_bytes(data)
    return left


def only(toy):
    """Whether the file is there, right, and nothing else beside it."""
    return toy.read_bytes() == DATA and list(toy.parent.iterdir()) == [toy]


def test_a_file_is_fetched_checked_and_found(toy, server):
    with pytest.raises(DataError, match=r"missing.* Run: eigenlabel datasets fetch toy"):
        find("toy")
    assert fetch("toy") == [toy] == find("toy")
    assert only(toy)
    assert server.seen == [("/toy", None)]


def test_another_folder_can_be_passed(toy, tmp_path):
    assert fetch("toy", folder=tmp_path / "other") == [tmp_path / "other" / "a" / "toy.bin"]
    assert only(tmp_path / "other" / "a" / "toy.bin")
    assert not toy.exists()


def test_an_existing_file_is_not_fetched_again(toy, server):
    leave(toy, DATA, "toy.bin")
    assert fetch("toy") == [toy]
    assert server.seen == []


def test_a_damaged_file_is_replaced(toy):
    leave(toy, DATA[::-1], "toy.bin")  # of the right size: only the checksum differs
    fetch("toy")
    assert only(toy)


def test_a_link_is_kept_and_a_device_raises(toy, tmp_path):
    toy.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    toy.symlink_to(tmp_path / "elsewhere" / "toy")
    fetch("toy")
    assert toy.is_symlink()
    assert only(tmp_path / "elsewhere" / "toy")
    toy.unlink()
    os.mkfifo(toy)
    with pytest.raises(DataError, match="not a regular file"):
        fetch("toy")
    assert stat.S_ISFIFO(toy.stat().st_mode)


def test_a_full_disk_names_the_file(toy):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=r"File too large: .*toy\.bin"):
            fetch("toy")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    fetch("toy")  # goes on where it ended
    assert only(toy)


def test_a_partial_file_is_resumed(toy, server):
    leave(toy, DATA[:1000])
    fetch("toy")
    assert only(toy)
    assert server.seen == [("/toy", "bytes=1000-")]


@pytest.mark.parametrize(
    ("plans", "ranges"),
    [
        (["no range"], ["bytes=1000-"]),
        ([416], ["bytes=1000-", None]),
        (["other range"], ["bytes=1000-", None]),
    ],
)
def test_a_server_that_cannot_resume_starts_again(toy, server, plans, ranges):
    leave(toy, DATA[:1000])
    server.plans = plans
    fetch("toy")
    assert only(toy)
    assert [wanted for _, wanted in server.seen] == ranges


def test_a_complete_partial_file_needs_no_server(toy, server):
    leave(toy, DATA)
    fetch("toy")
    assert only(toy)
    assert server.seen == []


def test_a_partial_file_that_is_too_long_is_started_again(toy, server):
    leave(toy, DATA + b"more")
    fetch("toy")
    assert only(toy)
    assert server.seen == [("/toy", None)]


def test_a_broken_transfer_is_resumed_where_it_broke(toy, server):
    server.plans = ["cut", "hang up", 503, "good"]
    fetch("toy")
    assert only(toy)
    half = len(DATA) // 2
    assert [wanted for _, wanted in server.seen] == [None, *3 * [f"bytes={half}-"]]


@pytest.mark.parametrize("plan", ["silence", "cut chunk"])
def test_other_ways_to_break_a_transfer(toy, server, monkeypatch, plan):
    monkeypatch.setattr(_fetch, "TIMEOUT", 0.2)
    server.plans = [plan]
    fetch("toy")
    assert only(toy)
    assert len(server.seen) >= 2  # a slow machine may miss the deadline again


def test_received_bytes_are_kept_if_all_attempts_fail(toy, server):
    server.plans = ["cut", 500, 500, 500]
    with pytest.raises(DataError, match="the server says 500"):
        fetch("toy")
    assert [p.name for p in toy.parent.iterdir()] == ["toy.bin.part"]
    assert toy.with_name("toy.bin.part").read_bytes() == DATA[: len(DATA) // 2]
    fetch("toy")
    assert only(toy)
    assert server.seen[-1] == ("/toy", f"bytes={len(DATA) // 2}-")


def test_received_bytes_are_kept_after_an_interruption(toy, monkeypatch):
    def interrupt(answer):
        yield answer.read(1000)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_fetch, "_chunks", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fetch("toy")
    assert toy.with_name("toy.bin.part").read_bytes() == DATA[:1000]


@pytest.mark.usefixtures("toy")
def test_a_file_that_does_not_exist_is_not_tried_again(server):
    server.plans = [404, "good"]
    with pytest.raises(DataError, match="the server says 404"):
        fetch("toy")
    assert len(server.seen) == 1


def test_a_file_with_a_wrong_checksum_is_removed(toy, server):
    server.plans = ["wrong"]
    found, expected = (hashlib.sha256(d).hexdigest() for d in (DATA[::-1], DATA))
    with pytest.raises(DataError, match=f"sha256 is {found}, expected {expected}"):
        fetch("toy")
    assert list(toy.parent.iterdir()) == []


def test_an_endless_stream_is_stopped(toy, server):
    server.plans = ["endless"]
    with pytest.raises(DataError, match=f"more than the {len(DATA)} bytes expected"):
        fetch("toy")
    assert list(toy.parent.iterdir()) == []
    assert server.poured < 2e7  # what lies in the buffers of both sides, no more


def test_offline_says_what_to_do(folder, register):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    register(f"http://127.0.0.1:{port}/")
    with pytest.raises(DataError) as error:
        fetch("toy")
    message = str(error.value)
    assert message.startswith(f"http://127.0.0.1:{port}/toy: no answer (")
    assert "refused" in message
    assert str(folder / "a" / "toy.bin") in message
    assert hashlib.sha256(DATA).hexdigest() in message
    assert "EIGENLABEL_DATA" in message


def test_a_redirect_to_the_same_kind_is_followed(toy, server):
    server.plans = [f"to {server.url}moved"]
    fetch("toy")
    assert only(toy)
    assert [path for path, _ in server.seen] == ["/toy", "/moved"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("http://example.invalid/toy", "https only"),
        ("ftp://127.0.0.1/toy", "https only"),
        ("file:///etc/hostname", "not allowed"),
    ],
)
def test_a_redirect_to_another_scheme_raises(toy, server, target, message):
    server.plans = [f"to {target}"]
    with pytest.raises(DataError, match=message):
        fetch("toy")
    assert len(server.seen) == 1
    assert list(toy.parent.iterdir()) == []


def test_https_is_not_redirected_to_this_machine():
    request = urllib.request.Request("https://example.invalid/toy")
    with pytest.raises(DataError, match="https only"):
        _fetch._Redirects().redirect_request(
            request, io.BytesIO(), 302, "Found", {}, "http://localhost/toy"
        )


@pytest.mark.parametrize("base", ["http://example.invalid/", "file:///etc/", "ftp://localhost/"])
def test_only_https_is_fetched(folder, register, base):
    register(base)
    with pytest.raises(DataError, match="https only"):
        fetch("toy")
    assert not folder.exists()


@pytest.mark.parametrize(
    "path", ["../toy", "a/../../toy", "/toy", "C:/toy", "a//toy", "", ".", "~/toy", "a/b c"]
)
def test_a_path_outside_the_data_folder_raises(folder, register, server, path):
    register(server.url, path)
    with pytest.raises(DataError, match="not a path inside the data folder"):
        fetch("toy")
    assert server.seen == []
    assert not folder.exists()


def test_a_backslash_is_not_a_separator():
    with pytest.raises(DataError, match="not a path inside"):
        _registry.File("a\\toy", 1, "0" * 64)


def test_two_processes_can_fetch_at_the_same_time(toy, server):
    server.plans = ["together", "together"]  # neither is answered before both have asked
    leave(toy, DATA[:1000])
    found = []
    threads = [threading.Thread(target=lambda: found.append(fetch("toy"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[toy], [toy]]
    assert only(toy)
    ranges = [wanted for _, wanted in server.seen]
    assert ranges in ([None, "bytes=1000-"], ["bytes=1000-", None])  # one had the part


def test_the_partial_file_of_a_killed_process_is_continued(toy, server):
    left = leave(toy, DATA[:1000], "toy.bin.0123abcd.part")
    long_ago = time.time() - 2 * _fetch.ABANDONED
    os.utime(left, (long_ago, long_ago))
    fetch("toy")
    assert only(toy)
    assert server.seen == [("/toy", "bytes=1000-")]


def test_the_partial_file_of_a_running_process_is_not_touched(toy, server):
    left = leave(toy, DATA[:1000], "toy.bin.0123abcd.part")
    fetch("toy")
    assert (toy.read_bytes(), left.read_bytes()) == (DATA, DATA[:1000])
    assert server.seen == [("/toy", None)]
