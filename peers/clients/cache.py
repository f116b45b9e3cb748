"""What clients need is kept in `clients/` below barnabas' cache: venvs, modules and built programs."""

from __future__ import annotations

import contextlib
import fcntl
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from barnabas.location import cache
from barnabas.peers import processes
from barnabas.peers.clients.errors import UnavailableClientError

_LINES: Final = 3

_LOOK: Final = 0.1
"""Seconds between two looks at whether to stop waiting."""

_stop: ContextVar[threading.Event] = ContextVar("_stop")


@contextlib.contextmanager
def ended_by(stop: threading.Event) -> Iterator[None]:
    """Let waits of this module, in this thread, raise UnavailableClientError once an event is set: a signal
    reaches the main thread only."""
    before = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(before)


@contextlib.contextmanager
def folder(name: str) -> Iterator[Path]:
    """Return a folder of the cache, which no other process uses until the end of `with`. Raises
    UnavailableClientError."""
    place = cache() / "clients" / name
    try:
        place.mkdir(parents=True, exist_ok=True)
        with (place.parent / f"{place.name}.lock").open("w") as lock:
            while not _locked(lock.fileno()):
                _go_on(f"{place} is used by another process")
                time.sleep(_LOOK)
            yield place
    except OSError as problem:
        raise UnavailableClientError(f"{place} can't be used: {problem}") from None


def built(name: str, sources: Sequence[Path], build: Callable[[Path], None]) -> Path:
    """Return a program of some sources, built where there is none yet, or of other sources.

    build: builds `client` in the folder of that name. Raises UnavailableClientError.
    """
    text = "".join(source.read_text() for source in sources)
    with folder(name) as place:
        program, of = place / "client", place / "built-of"
        if not (program.exists() and of.exists() and of.read_text() == text):
            build(place)
            of.write_text(text)
        return program


def run(
    what: str,
    line: Sequence[str],
    *,
    within: Path | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float = 600.0,
) -> str:
    """Run a command to its end and return what it printed.

    what: names the command in errors. Raises UnavailableClientError, with the command's last lines, if it
    fails.
    """
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    how = {"cwd": within, "env": environment, "stdin": subprocess.DEVNULL, "text": True}
    try:
        with processes.start(line, **how, **pipes) as process:
            try:
                out, problems = _ended(process, what, seconds)
            finally:
                processes.end(process)
    except OSError as problem:
        raise UnavailableClientError(f"{what}: {problem}") from None
    if process.returncode:
        text = re.sub(r" \(from versions: [^)]*\)", "", problems or out)  # pip: all there are
        lines = text.strip().splitlines()
        causes = [line for line in lines[:-_LINES] if " code E" in line]  # npm says it first
        said = " | ".join((*causes[:1], *lines[-_LINES:]))
        raise UnavailableClientError(f"{what}: {said}")
    return out


def _ended(process: subprocess.Popen[str], what: str, seconds: float) -> tuple[str, str]:
    """Wait for the end of a command; returns what it printed."""
    until = time.monotonic() + seconds
    while True:
        try:
            return process.communicate(timeout=_LOOK)
        except subprocess.TimeoutExpired:
            _go_on(what)
            if time.monotonic() > until:
                why = f"{what}: it had not ended after {seconds:g} s"
                raise UnavailableClientError(why) from None


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _go_on(what: str) -> None:
    stop = _stop.get(None)
    if stop is not None and stop.is_set():
        raise UnavailableClientError(f"{what}: interrupted")
