"""The scenario file, loaded again when it changes; if it is wrong, what was there stays."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from barnabas.proxy.control.target import Refused
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.scenario.file import Scenario, ScenarioError, load

LOOK: Final = 0.25
"""Seconds between two looks at the file."""

Signature = tuple[int, int, int]


class ScenarioFile:
    """A scenario file, and how it looked when it was last read. Make it before the first reading."""

    def __init__(self, path: Path, faults: tuple[Fault, ...] = FAULTS) -> None:
        self.path = path
        self._faults = faults
        self._read = self._seen = self._signature()

    def changed(self) -> bool:
        """Whether the file is another one than was read, and the same as at the last call.

        So one that is being written is not read half. True once for each change.
        """
        last, self._seen = self._seen, self._signature()
        if self._seen == self._read or self._seen != last:
            return False
        self._read = self._seen
        return True

    def load(self) -> Scenario:
        """What is in it now. Raises ScenarioError with all that is wrong, OSError."""
        if self._signature() is None:
            raise FileNotFoundError(0, "it is gone, or no regular file")
        return load(self.path, self._faults)

    async def watch(
        self,
        replace: Callable[[Scenario], Awaitable[None]],
        say: Callable[[str], None],
        every: float = LOOK,
    ) -> None:
        """Look at it for as long as this runs: hand on what it says anew, or say why not."""
        while True:
            await asyncio.sleep(every)
            if not self.changed():
                continue
            try:
                await replace(await asyncio.to_thread(self.load))  # YAML takes its time
            except ScenarioError as problem:
                say(f"scenario: invalid, the rules stay as they are: {'; '.join(problem.problems)}")
            except Refused as problem:
                say(f"scenario: the rules stay as they are: {problem}")
            except OSError as problem:
                reason = problem.strerror
                say(f"scenario: the rules stay as they are: can't read {self.path}: {reason}")
            except Exception as problem:  # noqa: BLE001 - a fault of ours: the next change may do
                say(f"scenario: can't load {self.path}: {type(problem).__name__}: {problem}")

    def _signature(self) -> Signature | None:
        """What tells two states of a file apart. None: there is none, or it is a pipe or a folder."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns
