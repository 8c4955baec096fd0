"""Download the files of known data sets: resumed, bounded, checked by their checksums."""

import http.client
import os
import secrets
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from eigenlabel.datasets.files.atomic import check_target, find_place, naming
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.registry import File, data_folder, digest, get
from eigenlabel.inputs.progress import progress

WAITS = (0.5, 1.0, 2.0)  # seconds before each new attempt
TIMEOUT = 30.0
CHUNK = 2**16
ABANDONED = 3600.0  # seconds without a byte; a live transfer is aborted much earlier
LOCAL = ("localhost", "127.0.0.1", "::1")


class _BrokenError(Exception):
    """Error for a transfer that did not finish; ``again`` says whether another attempt may help."""

    def __init__(self, reason: str, *, again: bool = True) -> None:
        super().__init__(reason)
        self.again = again


def _check_scheme(url: str, *, local: bool) -> None:
    """Raise DataError unless the URL is https; with ``local``, http to this machine is allowed."""
    parts = urlsplit(url)
    if parts.scheme == "https" or (local and parts.scheme == "http" and parts.hostname in LOCAL):
        return
    raise DataError(url, "not allowed: files are downloaded over https only")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects to https only."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        fp.close()  # its body is not needed, and would be read without a limit
        _check_scheme(newurl, local=req.type == "http")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _ask(url: str, start: int) -> Any:
    """Request a file from byte ``start`` on; the server may answer with the whole file."""
    headers = {"User-Agent": "eigenlabel", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    opener = urllib.request.build_opener(_Redirects)
    try:
        return opener.open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and start:
            return _ask(url, 0)
        again = error.code == 429 or error.code >= 500
        raise _BrokenError(f"the server says {error.code} {error.reason}", again=again) from error
    except (OSError, http.client.HTTPException) as error:
        raise _BrokenError(f"no answer ({getattr(error, 'reason', error)})") from error


def _chunks(answer: Any) -> Iterator[bytes]:
    try:
        while chunk := answer.read(CHUNK):
            yield chunk
    except (OSError, http.client.HTTPException) as error:
        raise _BrokenError(f"the transfer broke off ({error})") from error


def _transfer(file: File, part: Path) -> None:
    """Download the rest of a partial file, or all of it if the server cannot resume."""
    start = part.stat().st_size if part.exists() else 0
    if start == file.size:
        return  # the checksum will show whether it is right
    if start > file.size:
        start = 0
    with _ask(file.url, start) as answer, progress(file.size, file.path, "B") as bar:
        resumed = answer.status == 206
        if resumed and not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            part.unlink(missing_ok=True)
            raise _BrokenError("the server sent a different range than requested")
        size = start if resumed else 0
        bar.update(size)
        with part.open("r+b" if resumed else "wb") as out:
            out.seek(size)
            for chunk in _chunks(answer):
                size += len(chunk)
                if size > file.size:
                    break
                with naming(part):  # the error of a full disk does not name the file
                    out.write(chunk)
                    out.flush()
                bar.update(len(chunk))
    if size > file.size:
        part.unlink()
        raise DataError(file.url, f"more than the {file.size} bytes expected; nothing is kept")
    if size < file.size:
        raise _BrokenError(f"the transfer ended at {size} of {file.size} bytes")


def _receive(file: File, part: Path, target: Path) -> None:
    """Download a file in a few attempts, each of which resumes the last, and check it."""
    for wait in (*WAITS, None):
        try:
            _transfer(file, part)
            break
        except _BrokenError as error:
            if wait is None or not error.again:
                raise DataError(
                    file.url,
                    f"{error}. Try again later, which continues where this ended; or put the file "
                    f"at {target} by hand (sha256 {file.sha256}); or set EIGENLABEL_DATA to a "
                    "folder that has it",
                ) from error
            time.sleep(wait)
    found = digest(part)
    if found != file.sha256:
        part.unlink()
        raise DataError(
            file.url, f"sha256 is {found}, expected {file.sha256}; nothing is kept, try again"
        )


def _claim(target: Path, kept: Path) -> Path:
    """Return the path of a new partial file, which continues an abandoned one if there is one.

    Of several processes that rename the same abandoned file, only one succeeds.
    """
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    for left in target.parent.glob(f"{target.name}*.part"):
        with suppress(OSError):  # another process was faster
            if left == kept or time.time() - left.stat().st_mtime > ABANDONED:
                os.utime(left)  # before the rename, so that the file never looks abandoned
                left.rename(part)
                break
    return part


def _fetch_file(file: File, target: Path) -> None:
    _check_scheme(file.url, local=True)
    if check_target(target):
        raise DataError(target, "not a regular file; remove it, or set EIGENLABEL_DATA")
    target = find_place(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    kept = target.with_name(f"{target.name}.part")
    part = _claim(target, kept)
    try:
        _receive(file, part, target)
        part.replace(target)
    finally:
        with suppress(OSError):  # it no longer exists if the download succeeded
            part.replace(kept)


def fetch(name: str, *, folder: Any = None) -> list[Path]:
    """Download the files of a known data set into a folder, and return their paths.

    A file that already exists with the right checksum is not downloaded again; one with a wrong
    checksum is replaced. A broken transfer is resumed, immediately and by the next call. A file
    appears under its name only when it is complete and has the registered SHA-256.

    Parameters
    ----------
    name : str
        The name of the data set, a key of :func:`known`.
    folder : str or Path, default=None
        The folder to write to. None means :func:`data_folder`.

    Returns
    -------
    paths : list of Path
        The files, in the order of the registry.

    Examples
    --------
    >>> from eigenlabel.datasets import fetch
    >>> fetch("emotion")
    Traceback (most recent call last):
    ...
    eigenlabel.datasets.files.errors.DataError: emotion: no known data set; did you mean ...
    """
    entry = get(name)
    folder = data_folder() if folder is None else Path(folder)
    wanted = [file for file in entry.files if file.state(folder, check=bool(file.url)) != "there"]
    if wanted and entry.how:
        raise DataError(
            folder / wanted[0].path, f"missing, and {name} cannot be downloaded. {entry.how}"
        )
    for file in wanted:
        _fetch_file(file, folder / file.path)
    return [folder / file.path for file in entry.files]
