"""Where the streaming job's batches are on disk, and how one takes its place there.

`OUT/TABLE/batch=N/...` has a batch's rows, `OUT/_state/N` what is carried over to the next. A batch is made
in `OUT/_runs/`, and each of its folders is renamed into its place, the state last: a batch without one
is not over, and doing it again replaces what it had left. When there are many, small ones become one
(`compaction.py`).
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa

from barnabas.pipeline.streaming.compaction import compact
from barnabas.pipeline.streaming.following import Following

STATE: Final = 2
"""Version of the state: one more when a class that is pickled with it changes."""

_HEAD: Final = b"barnabas state %d\n" % STATE
"""Stands before the state."""

_KEPT: Final = 2
"""States that stay: Spark may ask for the latest batch once more."""


class Batches:
    """The batches in a folder. All methods raise OSError."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self._states = out / "_state"

    def check(self) -> None:
        """Raises ValueError if the state is another version's."""
        for number in self._numbers():
            with self._state(number).open("rb") as file:
                if file.readline(len(_HEAD)) != _HEAD:
                    raise ValueError("followed by another version of barnabas")

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
        with self._state(max(earlier)).open("rb") as file:
            file.seek(len(_HEAD))
            found = pickle.load(file)  # noqa: S301 our own
        assert isinstance(found, Following)  # noqa: S101
        return found

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
            file.write(_HEAD)
            pickle.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        made.rename(self._state(number))
        shutil.rmtree(run)
        for path in self._states.iterdir():
            if path.name.isdigit() and int(path.name) <= number - _KEPT:
                path.unlink()

    def _numbers(self) -> list[int]:
        return [int(path.name) for path in self._states.glob("*") if path.name.isdigit()]

    def _state(self, number: int) -> Path:
        return self._states / f"{number:09}"
