"""Clients in Go: small programs, built with the installed Go for the requested release."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from barnabas.peers.clients import cache
from barnabas.peers.clients.cache import run
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError

SOURCES: Final = Path(__file__).parent / "go"
"""The programs' sources: common files, and a folder for each library."""


PROGRAM: Final = "client"
"""The module of a program."""


def go_program(name: str, module: str, version: str, *, counted: bool = False) -> Program:
    """Return the program in `go/` of that name, built with a release of a Go module.

    Args:
        name: of the folder in `go/`.
        module: path of the module.
        version: of the module.
        counted: whether the program counts its lines (`go build -cover`) and reports them.

    Raises:
        UnavailableClientError: Go is missing, or the build failed.
    """
    folders = [
        SOURCES,
        SOURCES / name.replace("-", "_"),
        *([SOURCES / "counted"] if counted else []),
    ]
    sources = sorted(source for folder in folders for source in folder.glob("*.go"))
    modules = (f"{module}@v{version.removeprefix('v')}",)
    # counting the program's own lines is required; only atomic counters can be read at any time
    flags = ["-cover", "-covermode=atomic", f"-coverpkg=./...,{module}/..."] if counted else []
    label = f"{name} {version}{' counted' if counted else ''}"
    return Program([str(built(label, sources, modules, version, flags))])


def go() -> str:
    """Return the go command: from the PATH, or from where go.dev recommends to install it.

    Raises:
        UnavailableClientError: Go is not installed; the message has a remedy.
    """
    path = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if path is None:
        raise UnavailableClientError("Go clients need the go command on the PATH: see go.dev/dl")
    return path


def built(
    name: str,
    sources: Sequence[Path],
    modules: Sequence[str],
    version: str,
    flags: Sequence[str] = (),
    settings: Mapping[str, str] = MappingProxyType({"GOFLAGS": "-mod=mod"}),
) -> Path:
    """Return the program built from sources and modules.

    Args:
        name: of the program.
        sources: Go files; also go.mod and go.sum if they name the modules.
        modules: arguments of `go get`; none if the sources have a go.mod.
        version: the release that determines the build constraints (`tags`).
        flags: of `go build`.
        settings: of Go, as environment variables.

    Raises:
        UnavailableClientError: Go is missing, or the build failed.
    """

    def build(path: Path) -> None:
        program = go()
        for old in path.glob("*.go"):  # of another barnabas, which may have had other files
            old.unlink()
        (path / "go.mod").write_text(f"module {PROGRAM}\n\ngo 1.22\n")
        for source in sources:
            shutil.copy(source, path)
        environment = {**os.environ, "GOWORK": "off", **settings}
        task = f"{name} can't be built"
        if modules:
            run(task, [program, "get", *modules], within=path, environment=environment)
        line = [program, "build", "-tags", ",".join(tags(version)), "-o", str(path / "client")]
        run(task, [*line, *flags, "."], within=path, environment=environment)

    return cache.built(_folder(name), sources, build)


def is_built(name: str, sources: Sequence[Path]) -> bool:
    """Return whether `built` has the program in its cache."""
    return cache.is_built(_folder(name), sources)


def _folder(name: str) -> str:
    return f"{name.replace(' ', '-')}-go"


def tags(version: str) -> list[str]:
    """Return the build constraints that hold for a release.

    A file with `//go:build v1.21` is part of a program with the library's 1.21 or a later 1.x, as Go does for
    its own releases.

    >>> tags("v1.2.4")
    ['v1.0', 'v1.1', 'v1.2']
    """
    match = re.match(r"v?(\d+)\.(\d+)", version)
    return [f"v{match[1]}.{minor}" for minor in range(int(match[2]) + 1)] if match else []
