"""The streaming job's batches on disk, and how a batch is installed.

`OUT/TABLE/batch=N/...` has a batch's rows, `OUT/_state/N` the state after it. A batch is made in
`OUT/_runs/`, and each of its folders is renamed to its final name, the state last: a batch without a state is
unfinished, and a repeated run replaces its folders. When there are many small batches, they are merged
(`compaction.py`).
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from barnabas.pipeline.streaming.following import Following
from barnabas.pipeline.streaming.state import dump, load

STATE: Final = 6
"""The version of the state; it is incremented when a class in the state changes."""

_HEAD: Final = b"barnabas state %d\n" % STATE
"""The first line of a state; a line with its checksum follows."""


class Batches:
    """The batches in a folder. All methods raise OSError."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self._states = out / "_state"

    def check(self) -> None:
        """Raise ValueError if a state has another version, or is damaged."""
        for number in self._numbers():
            self._read(number)

    @property
    def count(self) -> int:
        """Return the number of finished batches."""
        return max((number + 1 for number in self._numbers()), default=0)

    def before(self, number: int) -> Following:
        """Return the state before a batch."""
        return self._read(number - 1) if number else Following()

    def begin(self, number: int) -> Path:
        """Return an empty folder to make a batch in."""
        run = self.out / "_runs" / f"{number:09}"
        if run.exists():
            shutil.rmtree(run)
        run.mkdir(parents=True)
        return run

    def install(self, run: Path, number: int, tables: Iterable[str]) -> None:
        """Move the tables of a batch to their final folders."""
        for table in tables:
            target = self.out / table / f"batch={number}"
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                shutil.rmtree(target)
            (run / table).rename(target)

    def finish(self, run: Path, number: int, state: Following) -> None:
        """Write the state after a batch, which finishes it."""
        self._states.mkdir(exist_ok=True)
        state_file = run / "state"
        with state_file.open("wb") as file:
            text = dump(state)
            file.write(b"%s%d\n%s" % (_HEAD, zlib.crc32(text), text))
            file.flush()
            os.fsync(file.fileno())
        state_file.rename(self._state(number))
        shutil.rmtree(run)
        for path in self._states.iterdir():
            if path.name.isdigit() and int(path.name) < number:
                path.unlink()

    def _read(self, number: int) -> Following:
        path = self._state(number)
        data = path.read_bytes()
        if not data.startswith(_HEAD):
            raise ValueError("followed by another version of barnabas")
        checksum, _, text = data[len(_HEAD) :].partition(b"\n")
        try:
            if checksum != b"%d" % zlib.crc32(text):
                raise ValueError("its checksum is another")
            return load(text)
        except ValueError:
            raise ValueError(f"left with a damaged state, {path}") from None

    def _numbers(self) -> list[int]:
        return [int(path.name) for path in self._states.glob("*") if path.name.isdigit()]

    def _state(self, number: int) -> Path:
        return self._states / f"{number:09}"
