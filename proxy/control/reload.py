"""Loads the scenario file again when it changes; if it is invalid, the rules stay in force."""

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
    """A scenario file, and its state when it was last read. Make it before the first reading."""

    def __init__(self, path: Path, faults: tuple[Fault, ...] = FAULTS) -> None:
        self.path = path
        self._faults = faults
        self._read = self._seen = self._signature()

    def changed(self) -> bool:
        """Return whether the file differs from the one that was read, and is stable.

        It is stable if it has not changed since the last call: a file that is still being written is not
        read. True is returned once for each change.
        """
        last, self._seen = self._seen, self._signature()
        if self._seen == self._read or self._seen != last:
            return False
        self._read = self._seen
        return True

    def load(self) -> Scenario:
        """Return the present scenario of the file.

        Raises:
            ScenarioError: The scenario is invalid; all problems are listed.
            OSError: The file cannot be read.
        """
        if self._signature() is None:
            raise FileNotFoundError(0, "it is missing or not a regular file")
        return load(self.path, self._faults)

    async def watch(
        self,
        replace: Callable[[Scenario], Awaitable[None]],
        say: Callable[[str], None],
        every: float = LOOK,
    ) -> None:
        """Look at the file for as long as this runs; hand on a changed scenario, or report its problems."""
        while True:
            await asyncio.sleep(every)
            if not self.changed():
                continue
            try:
                await replace(await asyncio.to_thread(self.load))  # YAML takes its time
            except ScenarioError as problem:
                say(f"scenario: invalid, rules unchanged: {'; '.join(problem.problems)}")
            except Refused as problem:
                say(f"scenario: rules unchanged: {problem}")
            except OSError as problem:
                reason = problem.strerror
                say(f"scenario: rules unchanged: can't read {self.path}: {reason}")
            except Exception as problem:  # noqa: BLE001 - a fault of ours: the next change may do
                say(f"scenario: can't load {self.path}: {type(problem).__name__}: {problem}")

    def _signature(self) -> Signature | None:
        """Return a value that distinguishes states of the file; None for a missing or irregular file."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns
