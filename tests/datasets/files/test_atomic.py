"""Every writer: whole files, links that stay, pipes and devices that are written into."""

import contextlib
import errno
import io
import os
import resource
import signal
import stat
import subprocess
import sys
import threading

import pytest

from eigenlabel import SharedSubspaceClassifier, report
from eigenlabel.cli import main
from eigenlabel.datasets import DataError, make_shared_subspace, save
from eigenlabel.datasets.files.atomic import writing
from eigenlabel.experiment.records import appending, read_records
from eigenlabel.persistence import SavedModel, save_model

DATA = make_shared_subspace(40, 5, 3, 2, prevalence=0.3, random_state=0)


def write_model(path):
    model = SharedSubspaceClassifier().fit(DATA.X, DATA.Y)
    save_model(SavedModel(model, DATA.feature_names, DATA.label_names), path)


def write_predictions(path):
    model, data = path.parent / "m.skops", path.parent / "d.npz"
    write_model(model)
    save(DATA, data)
    command("predict", model, data, "-o", path, "--format", "csv")
    model.unlink()
    data.unlink()


def write_fit(path):
    data = path.parent / "d.npz"
    save(DATA, data)
    command("fit", data, "-o", path, "--method", "ridge", "--set", "betas=[0.1]")
    data.unlink()


def own_stdout(folder):
    """A link like /dev/stdout, so that no failing test can replace the machine's own."""
    path = folder / "stdout"
    path.symlink_to("/proc/self/fd/1")
    return path


def command(*words):
    with contextlib.redirect_stdout(io.StringIO()):
        assert main([str(word) for word in words]) == 0


def write_page(path):
    report.write(report.page("A page", []), path)


# name -> what writes a file there, and the first bytes of it
WRITERS = {
    "model.skops": (write_model, b"PK"),
    "page.html": (write_page, b"<!doctype"),
    "data.npz": (lambda path: save(DATA, path), b"PK"),
    "data.csv": (lambda path: save(DATA, path), b'"'),
    "data.csv.gz": (lambda path: save(DATA, path), b"\x1f\x8b"),
    "data.parquet": (lambda path: save(DATA, path), b"PAR1"),
    "predictions.csv": (write_predictions, b"sample,labels"),
    "fitted.skops": (write_fit, b"PK"),
}
DIRECT = [name for name in WRITERS if name not in ("predictions.csv", "fitted.skops")]
every_writer = pytest.mark.parametrize("name", WRITERS)


@every_writer
def test_a_fifo_is_written_into(name, tmp_path):
    write, head = WRITERS[name]
    path, found = tmp_path / name, []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    reader.start()
    write(path)
    reader.join(10)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert found[0].startswith(head)
    assert os.listdir(tmp_path) == [name]


@every_writer
@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_device_is_written_into(name, tmp_path):
    write, _ = WRITERS[name]
    path = tmp_path / name
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        path.write_bytes(b"")
    except OSError:
        pytest.skip("no devices in this container")
    write(path)
    assert stat.S_ISCHR(path.stat().st_mode)
    assert os.listdir(tmp_path) == [name]


@every_writer
@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_target_is_replaced(name, there, tmp_path):
    write, head = WRITERS[name]
    other = tmp_path / "other"
    other.mkdir()
    target, middle, path = other / "target", other / "middle", tmp_path / name
    middle.symlink_to("target")
    path.symlink_to(middle)
    if there:
        target.write_bytes(b"old")
        target.chmod(0o640)
    write(path)
    assert path.is_symlink()
    assert middle.is_symlink()
    assert target.read_bytes().startswith(head)
    assert os.listdir(tmp_path / "other") in (["target", "middle"], ["middle", "target"])
    if there:
        assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", DIRECT)
def test_writing_to_a_folder_raises_an_error(name, tmp_path):
    (tmp_path / name).mkdir()
    with pytest.raises((OSError, DataError), match="Is a folder"):
        WRITERS[name][0](tmp_path / name)
    assert os.listdir(tmp_path) == [name]


def test_writing_to_sockets_and_loops_of_links_raises_an_error(tmp_path, monkeypatch):
    import socket

    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as there:
        there.bind("s")
        with pytest.raises(OSError, match="Is a socket; write to a file: 's'"):
            write_page("s")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match=r"symbolic links: .*loop"):
        write_page(tmp_path / "loop")
    assert sorted(os.listdir(tmp_path)) == ["loop", "s"]


def test_permissions_are_kept_or_usual(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_page(tmp_path / "new.html")
    usual = stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    assert stat.S_IMODE((tmp_path / "new.html").stat().st_mode) == usual
    (tmp_path / "new.html").chmod(0o600)
    write_page(tmp_path / "new.html")
    assert stat.S_IMODE((tmp_path / "new.html").stat().st_mode) == 0o600


def test_a_file_that_may_not_be_changed_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_bytes(b"mine")
    path.chmod(0o400)
    if os.geteuid() == 0:  # who may change everything
        monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"may not be changed: .*page\.html"):
        write_page(path)
    assert path.read_bytes() == b"mine"


def test_a_name_of_the_greatest_length(tmp_path):
    path = tmp_path / ("n" * 250 + ".html")
    write_page(path)
    assert os.listdir(tmp_path) == [path.name]


@contextlib.contextmanager
def largest_file(size):
    """Let writes beyond a size fail, as those to a full disk do."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize(
    "name", [n for n in WRITERS if n not in ("predictions.csv", "fitted.skops")]
)
def test_a_write_that_fails_names_the_file_and_leaves_the_old_one(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"old")
    with largest_file(64), pytest.raises((OSError, DataError), match=name) as caught:
        WRITERS[name][0](path)
    assert "File too large" in str(caught.value)
    assert os.listdir(tmp_path) == [name]
    assert path.read_bytes() == b"old"


def test_a_command_names_the_file_that_cannot_be_written(tmp_path, capsys):
    save(DATA, tmp_path / "d.npz")
    write_model(tmp_path / "m.skops")
    for words in (
        ["fit", "d.npz", "--method", "ridge", "--set", "betas=[0.1]", "-o"],
        ["predict", "m.skops", "d.npz", "-o"],
        ["evaluate", "m.skops", "d.npz", "--report"],
    ):
        called = [str(tmp_path / w) if w[1:] in (".npz", ".skops") else w for w in words]
        with largest_file(64):
            assert main([*called, str(tmp_path / "out")]) == 1
        assert str(tmp_path / "out") in capsys.readouterr().err
        assert sorted(os.listdir(tmp_path)) == ["d.npz", "m.skops"]


def test_an_error_of_the_writer_itself_keeps_its_name(tmp_path):
    with pytest.raises(OSError, match=r"\[Errno 5\] input$"), writing(tmp_path / "out"):
        raise OSError(errno.EIO, "input")
    with pytest.raises(KeyboardInterrupt), writing(tmp_path / "out"):
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_standard_output_has_predictions_and_nothing_else(tmp_path):
    write_model(tmp_path / "m.skops")
    save(DATA, tmp_path / "d.npz")
    command("predict", tmp_path / "m.skops", tmp_path / "d.npz", "-o", tmp_path / "p.csv")
    with (tmp_path / "out").open("wb") as out:
        out.write(b"before\n")
        out.flush()
        words = ["predict", "m.skops", "d.npz", "-o", own_stdout(tmp_path).name]
        code = "from eigenlabel.cli import main; raise SystemExit(main())"
        called = [sys.executable, "-c", code, *words]
        subprocess.run(called, stdout=out, cwd=tmp_path, check=True)
    assert (tmp_path / "out").read_bytes() == b"before\n" + (tmp_path / "p.csv").read_bytes()


def test_descriptors_keep_their_position(tmp_path):
    with (tmp_path / "out").open("wb") as out:
        out.write(b"before\n")
        out.flush()
        write_page(f"/dev/fd/{out.fileno()}")
        out.write(b"after\n")
    found = (tmp_path / "out").read_bytes()
    assert found.startswith(b"before\n<!doctype")
    assert found.endswith(b"after\n")
    with pytest.raises(OSError, match="Bad file descriptor: '/dev/fd/999'"):
        write_page("/dev/fd/999")


@pytest.mark.parametrize("name", ["data.arff", "data.svm", "data.jsonl", "data.mat"])
def test_forms_that_cannot_be_written_to_a_pipe_raise_an_error(name, tmp_path):
    os.mkfifo(tmp_path / name)
    end = os.open(tmp_path / name, os.O_RDWR)  # so that no writer waits
    try:
        with pytest.raises(DataError, match="cannot be written to a pipe"):
            save(DATA, tmp_path / name)
    finally:
        os.close(end)
    assert os.listdir(tmp_path) == [name]


def test_commands_that_print_messages_do_not_accept_standard_output_as_a_file(tmp_path, capsys):
    save(DATA, tmp_path / "d.npz")
    assert main(["fit", str(tmp_path / "d.npz"), "-o", str(own_stdout(tmp_path))]) == 1
    assert "stdout: is standard output" in capsys.readouterr().err
    assert main(["fit", str(tmp_path / "d.npz"), "-o", str(tmp_path)]) == 1
    assert "Is a folder; name a file in it" in capsys.readouterr().err


def test_a_broken_pipe_is_reported_with_its_name(tmp_path, capsys):
    write_model(tmp_path / "m.skops")
    save(DATA, tmp_path / "d.npz")
    reader, writer = os.pipe()
    os.close(reader)
    page = f"/dev/fd/{writer}"
    called = ["evaluate", tmp_path / "m.skops", tmp_path / "d.npz", "--report", page]
    assert main([str(word) for word in called]) == 1
    os.close(writer)
    assert f"Broken pipe: '{page}'" in capsys.readouterr().err


def test_records_are_appended_to_regular_files_only(tmp_path):
    record = {"key": "k", "data": "d", "method": "m", "split": 0}
    (tmp_path / "real").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "records.jsonl").symlink_to("../real/kept.jsonl")
    with appending(tmp_path / "run") as records:
        records.add(record)
    assert (tmp_path / "run" / "records.jsonl").is_symlink()
    assert read_records(tmp_path / "run") == [record]
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "records.jsonl")
    with pytest.raises(DataError, match="not a regular file"), appending(tmp_path / "pipe"):
        pass
    os.mkfifo(tmp_path / "place")
    with pytest.raises(DataError, match="not a folder"), appending(tmp_path / "place"):
        pass


def test_a_failed_run_leaves_a_link_of_records(tmp_path):
    (tmp_path / "records.jsonl").symlink_to("kept.jsonl")
    with contextlib.suppress(ZeroDivisionError), appending(tmp_path):
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == ["records.jsonl"]


def test_records_that_cannot_be_written_name_their_file(tmp_path):
    record = {"key": "k" * 100, "data": "d", "method": "m", "split": 0}
    with appending(tmp_path) as records:
        records.add(record)
        for size in (160, 300):  # nothing and a part of the next record fit
            with largest_file(size), pytest.raises(OSError, match=r"kept: .*records\.jsonl"):
                records.add(record)
    assert read_records(tmp_path) == [record]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_the_draft_of_a_private_file_is_private(tmp_path):
    path = tmp_path / "private.txt"
    path.touch(mode=0o600)
    with writing(path, "utf-8") as stream:
        (draft,) = set(tmp_path.iterdir()) - {path}
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
        stream.write("new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    with writing(path, "utf-8"):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_path_that_names_a_folder_raises_an_error(tmp_path):
    with (
        pytest.raises(IsADirectoryError, match="Is a folder; name a file in it"),
        writing(f"{tmp_path}/new/"),
    ):
        pytest.fail("the file is opened")
    assert list(tmp_path.iterdir()) == []
