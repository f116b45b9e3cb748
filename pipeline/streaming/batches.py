"""Where the streaming job's batches are on disk, and how one takes its place there.

`OUT/TABLE/batch=N/...` has a batch's rows, `OUT/_state/N` what is carried over to the next. A batch is made
in `OUT/_runs/`, and each of its folders is renamed into its place, the state last: a batch without one
is not over, and doing it again replaces what it had left. When there are many, small ones become one
(`compaction.py`).
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa

from barnabas.pipeline.streaming.compaction import compact
from barnabas.pipeline.streaming.following import Following
from barnabas.pipeline.streaming.state import dump, load

STATE: Final = 3
"""Version of the state: one more when a class that is written with it changes."""

_HEAD: Final = b"barnabas state %d\n" % STATE
"""Stands before the state, which a line with its checksum follows."""

_KEPT: Final = 2
"""States that stay: Spark may ask for the latest batch once more."""


class Batches:
    """The batches in a folder. All methods raise OSError."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self._states = out / "_state"

    def check(self) -> None:
        """Raise ValueError if a state is another version's, or damaged."""
        for number in self._numbers():
            self._read(number)

    @property
    def count(self) -> int:
        """How many batches are over."""
        return max((number + 1 for number in self._numbers()), default=0)

    def over(self, number: int) -> bool:
        """Whether a batch is."""
        return self._state(number).exists()

    def before(self, number: int) -> Following:
        """The state that a batch begins with; it is the latest one's before it."""
        earlier = [each for each in self._numbers() if each < number]
        if not earlier:
            return Following()
        return self._read(max(earlier))

    def begin(self, number: int) -> Path:
        """An empty folder to make a batch in."""
        run = self.out / "_runs" / f"{number:09}"
        if run.exists():
            shutil.rmtree(run)
        run.mkdir(parents=True)
        return run

    def install(self, run: Path, number: int, tables: Iterable[str]) -> None:
        """The tables of a batch take their places."""
        for table in tables:
            place = self.out / table / f"batch={number}"
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():
                shutil.rmtree(place)
            (run / table).rename(place)

    def compact(self, schemas: Mapping[str, pa.Schema], order: Mapping[str, Sequence[str]]) -> None:
        """Small batches become one if there are many: see there. All of them are over."""
        compact(self.out, self.out / "_runs" / "compaction", schemas, order)

    def finish(self, run: Path, number: int, state: Following) -> None:
        """A batch is over, whatever happens from now on."""
        self._states.mkdir(exist_ok=True)
        made = run / "state"
        with made.open("wb") as file:
            text = dump(state)
            file.write(b"%s%d\n%s" % (_HEAD, zlib.crc32(text), text))
            file.flush()
            os.fsync(file.fileno())
        made.rename(self._state(number))
        shutil.rmtree(run)
        for path in self._states.iterdir():
            if path.name.isdigit() and int(path.name) <= number - _KEPT:
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
