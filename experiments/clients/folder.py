"""Where a table keeps what is known: it goes on where it was interrupted.

cells.jsonl                      a line a cell that is over; of two with one name the later counts
cells/CLIENT/WORKLOAD/SCENARIO/  scenario.yaml, and a folder a trial: history.jsonl, output.txt, run.pcapng
"""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from barnabas.captures.files import private
from barnabas.experiments.clients.cell import Cell

CELLS: Final = "cells.jsonl"


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
        """Keep one that is over. Any thread may."""
        with self._lock:
            self.cells[cell.name] = cell
            self._file.write(cell.model_dump_json() + "\n")
            self._file.flush()

    def known(self, name: str, broker: str, scenario: str) -> Cell | None:
        """A cell that was run before such brokers, under such a scenario; None: it was not."""
        cell = self.cells.get(name)
        if cell is None or cell.verdict.word == "not run" or cell.broker != broker:
            return None
        kept = scenario_of(self.path, name)
        return cell if kept.exists() and kept.read_text(encoding="utf-8") == scenario else None

    def forget(self, names: Iterable[str]) -> None:
        """Take cells out. Any thread may."""
        with self._lock:
            for name in names:
                self.cells.pop(name, None)
            self._file.truncate(0)
            for cell in self.cells.values():
                self._file.write(cell.model_dump_json() + "\n")
            self._file.flush()

    def keep(self, cell: str, scenario: str) -> None:
        """Keep the text of a cell's scenario, to run it again."""
        kept = scenario_of(self.path, cell)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(scenario, encoding="utf-8")

    def close(self) -> None:
        """Let others use it."""
        self._file.close()


def scenario_of(path: Path, cell: str) -> Path:
    """The file with a cell's scenario."""
    return path / "cells" / cell / "scenario.yaml"


def evidence(path: Path, cell: str, trial: int) -> Path:
    """The folder of a cell's trial."""
    return path / "cells" / cell / str(trial)


def read(path: Path) -> dict[str, Cell]:
    """The cells of a folder, by name, in their order. Raises FolderError, OSError."""
    found: dict[str, Cell] = {}
    try:
        text = (path / CELLS).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FolderError(
            f"{path} holds no table of clients: `barnabas clients run --out` makes one"
        ) from None
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            cell = Cell.model_validate_json(line)
        except ValidationError:
            if number == text.count("\n") + 1:  # its end is missing: whoever wrote it was ended
                break
            raise FolderError(f"{path / CELLS}:{number}: not written by barnabas clients") from None
        found[cell.name] = cell
    return found
