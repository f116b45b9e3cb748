"""The folder of a table's results, with which an interrupted run continues.

cells.jsonl                      a line for each finished cell; the last line of a name counts
cells/CLIENT/WORKLOAD/SCENARIO/  scenario.yaml, and a folder for each trial: history.jsonl, output.txt,
run.pcapng
running/                         folders of unfinished cells, which move to cells/ at the end
"""

from __future__ import annotations

import fcntl
import shlex
import shutil
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from barnabas.captures.files import private
from barnabas.experiments.clients.cell import CONTROL, Cell
from barnabas.proxy.scenario.file import loads

CELLS: Final = "cells.jsonl"

RUNNING: Final = "running"

SCENARIO: Final = "scenario.yaml"

HEALTHY: Final = (
    "writes and reads each record once and in order: without a fault nothing excuses more or less"
)
"""The behaviour of a healthy client in the run without faults."""


class FolderError(ValueError):
    """A folder can't be used; the message is the reason."""


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


class Folder:
    """The folder of a table, locked against other processes."""

    def __init__(self, path: Path, now: Callable[[], datetime] = _now) -> None:
        """Open and lock a folder. now: returns the time. Raises FolderError, OSError."""
        self.path, self._now = path, now
        if path.exists() and not (path / CELLS).exists() and any(path.iterdir()):
            raise FolderError(
                f"{path} is not empty and holds no table of clients: choose another --out"
            )
        private.folder(path)
        self._file = (path / CELLS).open("a+", encoding="utf-8")
        self._lock = threading.Lock()
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise FolderError(f"{path} is in use by another run") from None
        self.cells = read(path)
        whole = (path / CELLS).read_bytes().rfind(b"\n") + 1
        self._file.truncate(whole)  # without an incomplete line

    def add(self, cell: Cell) -> Cell:
        """Store a finished cell with the time, and the files of its trials, in place of an earlier result.

        A cell that could not be run replaces nothing. Thread-safe.

        Returns:
            The cell, with the time if it is stored.
        """
        with self._lock:
            if not cell.trials and cell.verdict.word == "not run" and cell.name in self.cells:
                return cell
            running = self.path / RUNNING / cell.name
            if running.exists():
                stored = _place(self.path / "cells", cell.name)
                shutil.rmtree(stored, ignore_errors=True)
                stored.parent.mkdir(parents=True, exist_ok=True)
                running.rename(stored)
            if cell.ended is None:
                cell = cell.model_copy(update={"ended": self._now()})
            self.cells[cell.name] = cell
            self._file.write(cell.model_dump_json() + "\n")
            self._file.flush()
        return cell

    def known(self, name: str, broker: str, scenario: str, command: str = "") -> Cell | None:
        """Return the stored result of a cell with the same brokers, scenario and command, if any.

        A file in the command line must not have changed since.
        """
        cell = self.cells.get(name)
        if cell is None or cell.verdict.word == "not run":
            return None
        if (cell.broker, cell.command) != (broker, command):
            return None
        if cell.ended and any(_changed(word, cell.ended) for word in shlex.split(command)):
            return None
        stored = scenario_of(self.path, name)
        return cell if stored.exists() and stored.read_bytes() == scenario.encode() else None

    def begin(self, cell: str, scenario: str) -> Path:
        """Create the folder for the trials of a cell, with the text of its scenario.

        Raises FolderError, OSError.
        """
        running = _place(self.path / RUNNING, cell)
        shutil.rmtree(running, ignore_errors=True)
        running.mkdir(parents=True)
        (running / SCENARIO).write_text(scenario, encoding="utf-8")
        return running

    def close(self) -> None:
        """Unlock the folder, and remove unfinished cells."""
        shutil.rmtree(self.path / RUNNING, ignore_errors=True)
        self._file.close()


def _changed(word: str, since: datetime) -> bool:
    """Return whether a word of a command line is a file that was written later."""
    try:
        return Path(word).is_file() and Path(word).stat().st_mtime > since.timestamp()
    except OSError:  # the word is no name of a file, such as a program's text
        return False


def scenario_of(path: Path, cell: str) -> Path:
    """Return the file with a cell's scenario. Raises FolderError."""
    return _place(path / "cells", cell) / SCENARIO


def healthy_of(path: Path, cell: str) -> str:
    """Return the description of a healthy client in a cell; empty: the scenario has none."""
    if cell.endswith(f"/{CONTROL}"):
        return HEALTHY
    try:
        scenario = loads(scenario_of(path, cell).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return "" if scenario.about is None else scenario.about.healthy or ""


def evidence(path: Path, cell: str, trial: int) -> Path:
    """Return the folder of a cell's trial. Raises FolderError."""
    return _place(path / "cells", cell) / str(trial)


def _place(path: Path, cell: str) -> Path:
    """Return the folder of a cell. Raises FolderError for a name that leaves `path`."""
    parts = cell.split("/")
    if len(parts) != 3 or any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise FolderError(f"{cell!r} is not the name of a cell: CLIENT/WORKLOAD/SCENARIO")
    return path / cell


def read(path: Path) -> dict[str, Cell]:
    """Return the cells of a folder by name, in order. Raises FolderError, OSError."""
    cells: dict[str, Cell] = {}
    try:
        lines = (path / CELLS).read_bytes().split(b"\n")
    except FileNotFoundError:
        raise FolderError(
            f"{path} holds no table of clients: `barnabas clients run --out` creates one"
        ) from None
    for number, line in enumerate(
        lines[:-1], start=1
    ):  # of the last the end is missing, or it is empty
        try:
            cell = Cell.model_validate_json(line)
            _place(path, cell.name)
        except (ValidationError, FolderError):
            line_number = f"{path / CELLS}:{number}"
            raise FolderError(
                f"{line_number}: not written by barnabas clients: delete that line"
            ) from None
        cells[cell.name] = cell
    return cells
