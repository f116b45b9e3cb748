"""The program under test: one run of it as a process, ended with all that it started."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.peers import processes


class CommandError(RuntimeError):
    """A program can't be started, and why."""


GRACE: Final = 2.0
"""Seconds from SIGTERM to SIGKILL."""


class Surroundings(NamedTuple):
    """What a run is told: in its environment, and in its arguments for `{name}`."""

    bootstrap: str
    """Where the cluster is: the proxy."""
    history: Path
    """The file for its history."""
    run: str
    """A token of this run alone, for the names of its topics, groups and transactional ids: so each
    run begins with the same state, none."""

    def arguments(self, command: Sequence[str]) -> list[str]:
        """The command with everything filled in.

        >>> Surroundings("h:1", Path("f"), "5f3a").arguments(["a", "--topic=t-{run}", "{other}"])
        ['a', '--topic=t-5f3a', '{other}']
        """
        found = list(command)
        for name, value in self._asdict().items():
            found = [argument.replace(f"{{{name}}}", str(value)) for argument in found]
        return found

    def environment(self) -> dict[str, str]:
        """The variables to add. KAFKA_BOOTSTRAP_SERVERS is what many programs read anyway."""
        return {
            "BARNABAS_BOOTSTRAP": self.bootstrap,
            "KAFKA_BOOTSTRAP_SERVERS": self.bootstrap,
            "BARNABAS_HISTORY": str(self.history),
            "BARNABAS_RUN": self.run,
        }


class Ended(NamedTuple):
    """How a run ended."""

    code: int | None
    """Its exit code, negative for a signal; None: its time was up and it was killed."""
    seconds: float


def run_command(
    arguments: Sequence[str], environment: Mapping[str, str], output: Path, limit: float
) -> Ended:
    """Run a program to its end, at most `limit` seconds; what it prints goes to a file.

    What it started ends with it, and at whatever ends this function. Raises CommandError, or OSError
    if the file can't be written.
    """
    began = time.monotonic()
    with output.open("wb") as printed:
        try:
            process = processes.start(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
            )
        except OSError as problem:
            raise CommandError(f"can't run {arguments[0]}: {problem.strerror}") from None
        code = None
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(limit)
            return Ended(code, time.monotonic() - began)
        finally:
            processes.end(process, GRACE)


def last_line(output: Path) -> str:
    """The last line that a program printed, or nothing."""
    with output.open("rb") as printed:
        printed.seek(max(output.stat().st_size - 4096, 0))
        lines = printed.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
