"""The scenario file, loaded again when it changes; if it is wrong, what was there stays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from proxy.scenario import Scenario, ScenarioError, load

LOOK: Final = 0.5
"""Seconds between two looks at the file."""

Signature = tuple[int, int, int]


class ScenarioFile:
    """A scenario file, and how it looked when it was last read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = self._signature()

    def changed(self) -> bool:
        """Whether the file is another one than at the last call (or since this was made)."""
        seen, self._seen = self._seen, self._signature()
        return self._seen != seen

    def _signature(self) -> Signature | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def look(self, replace: Callable[[Scenario], None], say: Callable[[str], None]) -> None:
        """If it has changed, read it and hand it on; or say why not."""
        if not self.changed():
            return
        try:
            scenario = load(self.path)
        except ScenarioError as problem:
            say(f"scenario: refused, the rules stay as they are: {'; '.join(problem.problems)}")
        except OSError as problem:
            say(f"scenario: the rules stay as they are: can't read {self.path}: {problem.strerror}")
        else:
            replace(scenario)

    async def watch(
        self,
        replace: Callable[[Scenario], None],
        say: Callable[[str], None],
        every: float = LOOK,
    ) -> None:
        """Look at it for as long as this runs."""
        while True:
            await asyncio.sleep(every)
            self.look(replace, say)
