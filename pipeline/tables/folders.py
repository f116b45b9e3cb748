"""The folders of the tables on disk, and how a run's tables are installed: all of them or none.

`OUT/TABLE/capture=NAME/...`: a capture's rows are one folder of each table, so that writing them again
replaces them and leaves other captures alone. A run writes into `OUT/_runs/`, which Spark's readers ignore.
When it is complete its folder is renamed, which commits the run: the next run finishes what a killed one had
left to do. A run holds a lock in its folder, which the system releases when its process ends. A process that
makes analyses of the tables holds the lock of the whole folder, too.

A job that follows a folder writes `OUT/TABLE/batch=NAME/` in the same way. All tables of `OUT` are of one of
the two kinds.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, TextIO
from urllib.parse import unquote

from barnabas.captures.files import private

ON_REQUEST: Final = ("packets", "frames")
"""Tables that are written only on request."""

_RUNS: Final = "_runs"
_BEFORE: Final = ("capture=*/", "batch=*/capture=*/")
_READY: Final = ".ready"
_SOURCE: Final = "_source"
_SOURCES: Final = "_sources"
"""The folder with a file of each capture's name, which has the capture's source. Readers would take it for a
part of a table if it were in one."""
_LOCK: Final = "_lock"
_ESCAPED: Final = re.compile(r"[\x00-\x1f\"#%'*/:=?\\\x7f{\[\]^]")
"""Characters that Spark writes as %XX in names of such folders."""


_PATTERN: Final = re.compile(r"[][{}*?\\]")
"""Characters that make a path a pattern for Spark."""


def checked_path(path: Path) -> Path:
    """Return the path. Raises ValueError if Spark would treat it as a pattern.

    >>> checked_path(Path("/tmp/run-1"))
    PosixPath('/tmp/run-1')
    """
    special = _PATTERN.search(str(path))
    if special:
        raise ValueError(f"Spark treats the {special[0]} in {path} as a pattern: use another name")
    return path


Partition = Literal["capture", "batch"]
"""The partition key of a folder's tables: runs write captures, a followed folder has batches."""


def partitions(out: Path) -> set[Partition]:
    """Return the partition keys in a folder; Spark reads no table that has both."""
    kinds: tuple[Partition, ...] = ("capture", "batch")
    return {kind for kind in kinds if next(out.glob(f"*/{kind}=*"), None)}


def earlier(out: Path) -> bool:
    """Return whether a folder has tables of the first version, with partitions by api.

    Spark reads no table with two partition schemes.
    """
    return any(next(out.glob(f"exchanges/{by}day=*/api=*"), None) for by in _BEFORE)


@contextlib.contextmanager
def held(out: Path) -> Iterator[bool]:
    """Lock a whole folder, which exists; yield whether the lock was free. Raises OSError."""
    with (out / _LOCK).open("w") as lock:
        yield _locked(lock)


@contextlib.contextmanager
def run(out: Path) -> Iterator[Path]:
    """Make a folder for a new run; it is removed at the end unless the run is finished. Raises OSError.

    The run holds a lock in it. Killed runs are finished or removed first.
    """
    runs = out / _RUNS
    private.folder(out)
    runs.mkdir(exist_ok=True)
    for folder in sorted(runs.iterdir()):
        with contextlib.suppress(FileNotFoundError), (folder / _LOCK).open() as lock:
            if not _locked(lock):
                continue  # another process uses it
            if folder.suffix == _READY:
                _install(out, folder)
            else:
                shutil.rmtree(folder)
    folder = runs / uuid.uuid4().hex
    folder.mkdir()
    with (folder / _LOCK).open("w") as lock:
        _locked(lock)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _locked(lock: TextIO) -> bool:
    """Take a lock unless another process holds it; return whether it was taken."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def finish(out: Path, run: Path, capture: str, source: str) -> None:
    """Install all tables of a run, which replace the capture's earlier tables. Raises OSError.

    `source` is the path of the capture's first file.
    """
    (run / _SOURCE).write_text(f"{capture}\n{source}\n", encoding="utf-8")
    ready = run.with_suffix(_READY)
    run.rename(ready)
    _install(out, ready)


def _install(out: Path, ready: Path) -> None:
    source_text = (ready / _SOURCE).read_text(encoding="utf-8")
    capture, source = source_text.splitlines()
    (out / _SOURCES).mkdir(exist_ok=True)
    (out / _SOURCES / escaped(capture)).write_text(source, encoding="utf-8")
    for table in sorted(path for path in ready.iterdir() if path.is_dir()):
        if table.name.startswith("_"):
            shutil.rmtree(table)
            continue
        target = folder_of(out, table.name, capture)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            target.rename(ready / f"_old-{table.name}")
        table.rename(target)
    shutil.rmtree(ready)


def folder_of(out: Path, table: str, capture: str) -> Path:
    """Return the folder with a capture's rows of a table."""
    return out / table / f"capture={escaped(capture)}"


def escaped(text: str) -> str:
    """Return a value as it is written in the name of a folder.

    >>> escaped("a/b")
    'a%2Fb'
    """
    return _ESCAPED.sub(lambda special: f"%{ord(special[0]):02X}", text)


def name_for(out: Path, source: Path) -> str:
    """Return the name of a capture whose first file is `source`: the file's name, made unique.

    It is unique among the captures in the tables, whatever their folders. It never looks like a number or
    date, since Spark guesses the types of such names.

    >>> name_for(Path("nowhere"), Path("/captures/orders.pcapng"))
    'orders.pcapng'
    """
    preferred = source.name if re.match(r"[A-Za-z]\w*\W", source.name) else f"capture {source.name}"
    sources = {unquote(path.name): path.read_text("utf-8") for path in out.glob(f"{_SOURCES}/*")}
    resolved_source, name, number = str(source.resolve()), preferred, 2
    while sources.get(name, resolved_source) != resolved_source:
        name, number = f"{preferred} ({number})", number + 1
    return name
