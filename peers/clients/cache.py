"""Where what clients need is kept once it was got: `clients/` below barnabas' cache."""

from __future__ import annotations

import contextlib
import fcntl
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from barnabas.peers.apache.artifacts import cache
from barnabas.peers.clients.errors import UnavailableClientError

_LINES: Final = 3


@contextlib.contextmanager
def folder(name: str) -> Iterator[Path]:
    """A folder of that name, with nobody else in it until the end of `with`. Raises
    UnavailableClientError."""
    place = cache() / "clients" / name
    try:
        place.mkdir(parents=True, exist_ok=True)
        with (place.parent / f"{place.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield place
    except OSError as problem:
        raise UnavailableClientError(f"{place} can't be used: {problem}") from None


def run(
    what: str,
    line: Sequence[str],
    *,
    within: Path | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float = 600.0,
) -> str:
    """Run a command to its end; returns what it printed. Raises UnavailableClientError, with what it said
    last, if it fails."""
    try:
        done = subprocess.run(  # noqa: S603 (pip, go, npm, cargo)
            line,
            cwd=within,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise UnavailableClientError(f"{what}: {problem}") from None
    if done.returncode:
        said = " | ".join((done.stderr or done.stdout).strip().splitlines()[-_LINES:])
        raise UnavailableClientError(f"{what}: {said}")
    return done.stdout
