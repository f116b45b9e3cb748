"""The cache of venvs, modules and built programs of clients: `clients/` in barnabas' cache."""

from __future__ import annotations

import contextlib
import fcntl
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from barnabas.location import cache
from barnabas.peers import processes
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.stopping import stopped

_LINES: Final = 3

_LOOK: Final = 0.1
"""Seconds between two checks whether to stop."""


@contextlib.contextmanager
def folder(name: str) -> Iterator[Path]:
    """Lock a folder of the cache for this process, until the end of `with`.

    Raises:
        UnavailableClientError: The folder can't be used.
    """
    path = cache() / "clients" / name
    try:
        path.mkdir(parents=True, exist_ok=True)
        with (path.parent / f"{path.name}.lock").open("w") as lock:
            while not _locked(lock.fileno()):
                _check_stop(f"{path} is used by another process")
                time.sleep(_LOOK)
            yield path
    except OSError as problem:
        raise UnavailableClientError(f"{path} can't be used: {problem}") from None


def built(name: str, sources: Sequence[Path], build: Callable[[Path], None]) -> Path:
    """Return the program of some sources, built if it is missing or was built from other sources.

    Args:
        name: of the folder in the cache.
        sources: files whose texts identify the program.
        build: builds `client` in that folder.

    Raises:
        UnavailableClientError: The build failed.
    """
    with folder(name) as path:
        if not is_built(name, sources):
            build(path)
            (path / "built-of").write_text(_text_of(sources))
        return path / "client"


def is_built(name: str, sources: Sequence[Path]) -> bool:
    """Return whether the cache has the program of these sources."""
    path = cache() / "clients" / name
    of = path / "built-of"
    return (path / "client").exists() and of.exists() and of.read_text() == _text_of(sources)


def _text_of(sources: Sequence[Path]) -> str:
    return "".join(source.read_text() for source in sources)


def run(
    task: str,
    line: Sequence[str],
    *,
    within: Path | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float = 600.0,
) -> str:
    """Run a command to its exit and return its output.

    Args:
        task: names the command in errors.
        line: the command and its arguments.
        within: the working directory.
        environment: in place of this process's.
        seconds: timeout.

    Raises:
        UnavailableClientError: The command failed; the message has its last lines.
    """
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    options = {"cwd": within, "env": environment, "stdin": subprocess.DEVNULL, "text": True}
    try:
        with processes.start(line, **options, **pipes) as process:
            try:
                out, problems = _wait_for_exit(process, task, seconds)
            finally:
                processes.end(process)
    except OSError as problem:
        raise UnavailableClientError(f"{task}: {problem}") from None
    if process.returncode:
        text = re.sub(r" \(from versions: [^)]*\)", "", problems or out)  # pip: all there are
        lines = text.strip().splitlines()
        causes = [line for line in lines[:-_LINES] if " code E" in line]  # npm prints it first
        last_lines = " | ".join((*causes[:1], *lines[-_LINES:]))
        raise UnavailableClientError(f"{task}: {last_lines}")
    return out


def _wait_for_exit(process: subprocess.Popen[str], task: str, seconds: float) -> tuple[str, str]:
    """Wait for the exit of a command, and return its output and errors."""
    until = time.monotonic() + seconds
    while True:
        try:
            return process.communicate(timeout=_LOOK)
        except subprocess.TimeoutExpired:
            _check_stop(task)
            if time.monotonic() > until:
                reason = f"{task}: it had not ended after {seconds:g} s"
                raise UnavailableClientError(reason) from None


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _check_stop(task: str) -> None:
    if stopped():
        raise UnavailableClientError(f"{task}: interrupted")
