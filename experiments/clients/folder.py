"""Where a table keeps what is known: it goes on where it was interrupted.

cells.jsonl                      a line a cell that is over; of two with one name the later counts
cells/CLIENT/WORKLOAD/SCENARIO/  scenario.yaml, and a folder a trial: history.jsonl, output.txt, run.pcapng
running/                         the same of cells that are not over: it takes the other's place then
"""

from __future__ import annotations

import fcntl
import shutil
import threading
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from barnabas.captures.files import private
from barnabas.experiments.clients.cell import Cell
from barnabas.proxy.scenario.file import loads

CELLS: Final = "cells.jsonl"

RUNNING: Final = "running"

SCENARIO: Final = "scenario.yaml"


class FolderError(ValueError):
    """A folder can't be used, and why."""


class Folder:
    """The folder of a table; nobody else can write to it meanwhile."""

    def __init__(self, path: Path) -> None:
        """Raises FolderError, OSError."""
        self.path = path
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
        self._file.truncate(whole)  # without a line that was under way

    def add(self, cell: Cell) -> None:
        """Keep one that is over, with what stays of its trials, instead of an earlier one; but one that could
        not be tried takes no other's place. Any thread may."""
        with self._lock:
            if not cell.trials and cell.verdict.word == "not run" and cell.name in self.cells:
                return
            begun = self.path / RUNNING / cell.name
            if begun.exists():
                kept = _place(self.path / "cells", cell.name)
                shutil.rmtree(kept, ignore_errors=True)
                kept.parent.mkdir(parents=True, exist_ok=True)
                begun.rename(kept)
            self.cells[cell.name] = cell
            self._file.write(cell.model_dump_json() + "\n")
            self._file.flush()

    def known(self, name: str, broker: str, scenario: str, command: str = "") -> Cell | None:
        """A cell that was run before such brokers, under such a scenario, by such a program; None: it was
        not."""
        cell = self.cells.get(name)
        if cell is None or cell.verdict.word == "not run":
            return None
        if (cell.broker, cell.command) != (broker, command):
            return None
        kept = scenario_of(self.path, name)
        return cell if kept.exists() and kept.read_text(encoding="utf-8") == scenario else None

    def begin(self, cell: str, scenario: str) -> Path:
        """The folder for what stays of a cell's trials until it is over. The text of its scenario is in it,
        to run it again. Raises FolderError, OSError."""
        begun = _place(self.path / RUNNING, cell)
        shutil.rmtree(begun, ignore_errors=True)
        begun.mkdir(parents=True)
        (begun / SCENARIO).write_text(scenario, encoding="utf-8")
        return begun

    def close(self) -> None:
        """Let others use it. What is not over is gone."""
        shutil.rmtree(self.path / RUNNING, ignore_errors=True)
        self._file.close()


def scenario_of(path: Path, cell: str) -> Path:
    """The file with a cell's scenario. Raises FolderError."""
    return _place(path / "cells", cell) / SCENARIO


def healthy_of(path: Path, cell: str) -> str:
    """What the scenario of a cell says that a healthy client does; empty: it does not say."""
    try:
        found = loads(scenario_of(path, cell).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return "" if found.about is None else found.about.healthy or ""


def evidence(path: Path, cell: str, trial: int) -> Path:
    """The folder of a cell's trial. Raises FolderError."""
    return _place(path / "cells", cell) / str(trial)


def _place(path: Path, cell: str) -> Path:
    """The folder of a cell below another: its name may be of a file of others. Raises FolderError."""
    parts = cell.split("/")
    if len(parts) != 3 or any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise FolderError(f"{cell!r} is no name of a cell: CLIENT/WORKLOAD/SCENARIO")
    return path / cell


def read(path: Path) -> dict[str, Cell]:
    """The cells of a folder, by name, in their order. Raises FolderError, OSError."""
    found: dict[str, Cell] = {}
    try:
        lines = (path / CELLS).read_bytes().split(b"\n")
    except FileNotFoundError:
        raise FolderError(
            f"{path} holds no table of clients: `barnabas clients run --out` makes one"
        ) from None
    for number, line in enumerate(
        lines[:-1], start=1
    ):  # of the last the end is missing, or it is empty
        try:
            cell = Cell.model_validate_json(line)
            _place(path, cell.name)
        except (ValidationError, FolderError):
            where = f"{path / CELLS}:{number}"
            raise FolderError(
                f"{where}: not written by barnabas clients: delete that line"
            ) from None
        found[cell.name] = cell
    return found
