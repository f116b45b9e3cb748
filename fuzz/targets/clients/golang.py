"""Clients in Go: small programs, built with the Go on the path for the release that is asked for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.clients.cache import folder, run
from barnabas.fuzz.targets.clients.client import Client, Program

_SOURCES: Final = Path(__file__).parent / "go"
_SIDE_BY_SIDE: Final = 24
"""Programs in Go take little of a core and less memory than others: more of them wait at once."""


def go_client(name: str, module: str, version: str) -> Client:
    """A release of a Go module, used by the program in `go/` that has the client's name."""

    def prepare() -> Program:
        return Program([str(_built(name, module, version))])

    return Client(f"{name} {version}", name, prepare, side_by_side=_SIDE_BY_SIDE)


def go() -> str:
    """The Go on the path, or where go.dev has people put it. Raises CannotRun, with what to do."""
    found = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if found is None:
        raise CannotRun("Go clients need the go command on the PATH: see go.dev/dl")
    return found


def _built(name: str, module: str, version: str) -> Path:
    """The program; built where there is none yet, or of other sources. Raises CannotRun."""
    sources = [_SOURCES / "lines.go", _SOURCES / name.replace("-", "_") / "sessions.go"]
    text = "".join(source.read_text() for source in sources)
    program = go()
    with folder(f"{name}-{version}-go") as place:
        built, of = place / "client", place / "built-of"
        if built.exists() and of.exists() and of.read_text() == text:
            return built
        for source in sources:
            shutil.copy(source, place)
        (place / "go.mod").write_text("module client\n\ngo 1.21\n")
        environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOWORK": "off"}
        what = f"{name} {version} can't be built"
        wanted = f"{module}@v{version.removeprefix('v')}"
        run(what, [program, "get", wanted], within=place, environment=environment)
        run(what, [program, "build", "-o", str(built), "."], within=place, environment=environment)
        of.write_text(text)
        return built
