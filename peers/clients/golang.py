"""Clients in Go: small programs, built with the Go on the path for the release that is asked for."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from barnabas.peers.clients import cache
from barnabas.peers.clients.cache import run
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError

SOURCES: Final = Path(__file__).parent / "go"
"""Where the programs are: what all of them have, and a folder for each library."""


PROGRAM: Final = "client"
"""The module of a program."""


def go_program(name: str, module: str, version: str, *, counted: bool = False) -> Program:
    """Return the program in `go/` of that name, with a release of a Go module.

    counted: whether it counts its lines (`go build -cover`) and reports them. Raises UnavailableClientError.
    """
    folders = [
        SOURCES,
        SOURCES / name.replace("-", "_"),
        *([SOURCES / "counted"] if counted else []),
    ]
    sources = sorted(source for folder in folders for source in folder.glob("*.go"))
    modules = (f"{module}@v{version.removeprefix('v')}",)
    # without the program's own counters there would be none; others than atomic ones can't be told
    flags = ["-cover", "-covermode=atomic", f"-coverpkg=./...,{module}/..."] if counted else []
    what = f"{name} {version}{' counted' if counted else ''}"
    return Program([str(built(what, sources, modules, version, flags))])


def go() -> str:
    """Return the Go on the path, or where go.dev has people put it. Raises UnavailableClientError, with what
    to do."""
    found = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if found is None:
        raise UnavailableClientError("Go clients need the go command on the PATH: see go.dev/dl")
    return found


def built(
    name: str,
    sources: Sequence[Path],
    modules: Sequence[str],
    version: str,
    flags: Sequence[str] = (),
) -> Path:
    """Return the program of these sources, with modules as `go get` takes them. version: of what its `tags`
    are about. flags: of `go build`. Raises UnavailableClientError."""
    program = go()

    def build(place: Path) -> None:
        for old in place.glob("*.go"):  # of another barnabas, which may have had other files
            old.unlink()
        for source in sources:
            shutil.copy(source, place)
        (place / "go.mod").write_text(f"module {PROGRAM}\n\ngo 1.22\n")
        environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOWORK": "off"}
        what = f"{name} can't be built"
        run(what, [program, "get", *modules], within=place, environment=environment)
        line = [program, "build", "-tags", ",".join(tags(version)), "-o", str(place / "client")]
        run(what, [*line, *flags, "."], within=place, environment=environment)

    return cache.built(f"{name.replace(' ', '-')}-go", sources, build)


def tags(version: str) -> list[str]:
    """Return the build constraints that hold for a release.

    A file with `//go:build v1.21` is part of a program with the library's 1.21 and whatever came later in 1,
    as Go has it for its own releases.

    >>> tags("v1.2.4")
    ['v1.0', 'v1.1', 'v1.2']
    """
    found = re.match(r"v?(\d+)\.(\d+)", version)
    return [f"v{found[1]}.{minor}" for minor in range(int(found[2]) + 1)] if found else []
