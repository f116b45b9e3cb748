"""Where tables are on disk, and how what a run has made takes its place there: whole, or not at all.

`OUT/TABLE/capture=NAME/...`: a capture's rows are a folder of each table, so that writing them again
replaces them and leaves those of others. A run writes into `OUT/_runs/`, which Spark's readers pass over;
when all of it is there its folder is renamed, and from then on it counts: who comes next ends what a
killed run had left to do. Whoever runs holds a lock in its folder, which the system lets go when that
process is gone; whoever makes analyses of the tables holds that of the whole folder, too.

What follows a folder writes `OUT/TABLE/batch=NAME/` in the same way: `OUT` has tables of one kind only.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple, TextIO
from urllib.parse import unquote

from barnabas.captures.files import private

ON_REQUEST: Final = ("packets", "frames")
"""Tables that are not written unless somebody asks for them."""

_RUNS: Final = "_runs"
_BEFORE: Final = ("capture=*/", "batch=*/capture=*/")
_READY: Final = ".ready"
_SOURCE: Final = "_source"
_SOURCES: Final = "_sources"
"""A file of each capture's name: where it came from. Not among the tables, where readers would take it for
a part of them."""
_LOCK: Final = "_lock"
_ESCAPED: Final = re.compile(r"[\x00-\x1f\"#%'*/:=?\\\x7f{\[\]^]")
"""What Spark writes as %XX in the names of such folders."""


_PATTERN: Final = re.compile(r"[][{}*?\\]")
"""What makes a pattern of a path that Spark is given."""


def checked_path(path: Path) -> Path:
    """The path itself. Raises ValueError if Spark would take it for a pattern.

    >>> checked_path(Path("/tmp/run-1"))
    PosixPath('/tmp/run-1')
    """
    found = _PATTERN.search(str(path))
    if found:
        raise ValueError(f"Spark treats the {found[0]} in {path} as a pattern: use another name")
    return path


Partition = Literal["capture", "batch"]
"""By what the tables of a folder are parted: runs write a capture each, what follows a folder batches."""


def partitions(out: Path) -> set[Partition]:
    """Those that there are in a folder; Spark reads no table that has both."""
    kinds: tuple[Partition, ...] = ("capture", "batch")
    return {kind for kind in kinds if next(out.glob(f"*/{kind}=*"), None)}


def earlier(out: Path) -> bool:
    """Whether tables of the first version are in a folder, which were parted by api, too: Spark reads no
    table that is parted in two ways."""
    return any(next(out.glob(f"exchanges/{by}day=*/api=*"), None) for by in _BEFORE)


@contextlib.contextmanager
def held(out: Path) -> Iterator[bool]:
    """The whole folder, which is there, for one process at a time; whether it is ours meanwhile. Raises
    OSError."""
    with (out / _LOCK).open("w") as lock:
        yield _locked(lock)


class Run(NamedTuple):
    """Where a run writes, and the lock that it holds."""

    folder: Path
    lock: TextIO


def begin(out: Path) -> Run:
    """A new folder for a run. Ends what killed runs have left. Raises OSError."""
    runs = out / _RUNS
    private.folder(out)
    runs.mkdir(exist_ok=True)
    for folder in sorted(runs.iterdir()):
        with contextlib.suppress(FileNotFoundError), (folder / _LOCK).open() as lock:
            if not _locked(lock):
                continue  # somebody else is at it
            if folder.suffix == _READY:
                _install(out, folder)
            else:
                shutil.rmtree(folder)
    run = runs / uuid.uuid4().hex
    run.mkdir()
    lock = (run / _LOCK).open("w")
    _locked(lock)
    return Run(run, lock)


def _locked(lock: TextIO) -> bool:
    """Take a lock, unless somebody holds it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def finish(out: Path, run: Run, capture: str, source: str) -> None:
    """All tables of a run are there, in folders of their names: they take the place of what the capture
    had. `source` says where it came from. Raises OSError."""
    (run.folder / _SOURCE).write_text(f"{capture}\n{source}\n", encoding="utf-8")
    ready = run.folder.with_suffix(_READY)
    run.folder.rename(ready)
    _install(out, ready)
    run.lock.close()


def give_up(run: Run) -> None:
    """A run came to nothing; nothing happens to one that is finished."""
    shutil.rmtree(run.folder, ignore_errors=True)
    run.lock.close()


def _install(out: Path, ready: Path) -> None:
    said = (ready / _SOURCE).read_text(encoding="utf-8")
    capture, source = said.splitlines()
    (out / _SOURCES).mkdir(exist_ok=True)
    (out / _SOURCES / escaped(capture)).write_text(source, encoding="utf-8")
    for table in sorted(path for path in ready.iterdir() if path.is_dir()):
        if table.name.startswith("_"):
            shutil.rmtree(table)
            continue
        place = folder_of(out, table.name, capture)
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            place.rename(ready / f"_old-{table.name}")
        table.rename(place)
    shutil.rmtree(ready)


def folder_of(out: Path, table: str, capture: str) -> Path:
    """The folder with a capture's rows of a table."""
    return out / table / f"capture={escaped(capture)}"


def escaped(text: str) -> str:
    """A value as it is in the name of a folder.

    >>> escaped("a/b")
    'a%2Fb'
    """
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)


def name_for(out: Path, source: Path) -> str:
    """What a capture is called whose first file this is: like the file, and so that no other capture in
    these tables has the name, whatever folder it was in; text to Spark, which guesses types of such names.

    >>> name_for(Path("nowhere"), Path("/captures/orders.pcapng"))
    'orders.pcapng'
    """
    wanted = source.name if re.match(r"[A-Za-z]\w*\W", source.name) else f"capture {source.name}"
    sources = dict(_known(out))
    where, name, number = str(source.resolve()), wanted, 2
    while sources.get(name, where) != where:
        name, number = f"{wanted} ({number})", number + 1
    return name


def _known(out: Path) -> list[tuple[str, str]]:
    """Names of captures in the tables, and their first files."""
    return [
        (unquote(path.name), path.read_text(encoding="utf-8"))
        for path in sorted(out.glob(f"{_SOURCES}/*"))
    ]
