"""The program under test: one run of it as a process, which ends with all its child processes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.peers import processes
from barnabas.peers.descendants import Mark


class CommandError(RuntimeError):
    """The program can't be started; the message is the reason."""


GRACE: Final = 2.0
"""Seconds from SIGTERM to SIGKILL."""


class RunParameters(NamedTuple):
    """Parameters of a run: environment variables, and `{name}` in arguments."""

    bootstrap: str
    """The cluster's address, which is the proxy's."""
    history: Path
    """The file for its history."""
    run: str
    """A token of this run alone, for the names of its topics, groups and transactional ids: so each
    run begins with the same state, none."""

    def arguments(self, command: Sequence[str]) -> list[str]:
        """Return the command with all parameters filled in.

        >>> RunParameters("h:1", Path("f"), "5f3a").arguments(["a", "--topic=t-{run}", "{other}"])
        ['a', '--topic=t-5f3a', '{other}']
        """
        arguments = list(command)
        for name, value in self._asdict().items():
            arguments = [argument.replace(f"{{{name}}}", str(value)) for argument in arguments]
        return arguments

    def environment(self) -> dict[str, str]:
        """Return the variables to add; many programs read KAFKA_BOOTSTRAP_SERVERS anyway."""
        return {
            "BARNABAS_BOOTSTRAP": self.bootstrap,
            "KAFKA_BOOTSTRAP_SERVERS": self.bootstrap,
            "BARNABAS_HISTORY": str(self.history),
            "BARNABAS_RUN": self.run,
        }


class CommandResult(NamedTuple):
    """The end of a run."""

    code: int | None
    """The exit code, negative for a signal; None: killed after the time limit."""
    seconds: float


def run_command(
    arguments: Sequence[str], environment: Mapping[str, str], output: Path, limit: float
) -> CommandResult:
    """Run a program for at most `limit` seconds; its output goes to a file.

    Its child processes end with it, also if this function is interrupted.

    Raises:
        CommandError: The program can't be started.
        OSError: The file can't be written.
    """
    began, mark = time.monotonic(), Mark()
    with output.open("wb") as printed:
        try:
            process = processes.start(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment, **mark.environment},
            )
        except OSError as problem:
            raise CommandError(f"can't run {arguments[0]}: {problem.strerror}") from None
        code = None
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(limit)
            return CommandResult(code, time.monotonic() - began)
        finally:
            processes.end(process, GRACE)
            mark.kill()


def last_line(output: Path) -> str:
    """Return the last line of a program's output; empty if there is none."""
    with output.open("rb") as printed:
        printed.seek(max(output.stat().st_size - 4096, 0))
        lines = printed.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
