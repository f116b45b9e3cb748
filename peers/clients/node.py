"""Clients in JavaScript: each release in a folder of its own, with the program that uses it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

from barnabas.peers.clients.cache import folder, run
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError

SOURCES: Final = Path(__file__).parent / "js"
"""The programs' sources: `lines.cjs`, `work.cjs`, and a folder for each library."""

_INSTALL: Final = (
    "--engine-strict",  # a library fails in an unsupported version of Node.js
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--logs-max=0",
)

_NO_GUARDS: Final = "--disable-wasm-trap-handler"
"""Reserves no address space around WebAssembly's memory: the fuzzer limits the address space of clients."""
_WITH_NO_GUARDS: Final = (22, 2)
"""The first version of Node.js with that option."""


def node_program(name: str, package: str, version: str) -> Program:
    """Return the program in `js/` of that name, with a release of a package on npm.

    Raises:
        UnavailableClientError: Node.js is missing, or the package can't be installed.
    """
    node, npm = _command("node"), _command("npm")
    running = run("node can't be run", [node, "--version"]).strip()
    with folder(f"{name}-{version}-node-{running}") as path:
        done = path / "done"
        if not done.exists():
            arguments = ["--prefix", str(path), f"{package}@{version}"]
            run(f"{name} {version} can't be installed", [npm, "install", *_INSTALL, *arguments])
            done.touch()
        number = tuple(int(part) for part in re.findall(r"\d+", running))
        options = [_NO_GUARDS] if number >= _WITH_NO_GUARDS else []
        program = [node, *options, str(SOURCES / "lines.cjs"), name.replace("-", "_")]
        return Program(program, {"NODE_PATH": str(path / "node_modules")})


def _command(command: str) -> str:
    path = shutil.which(command)
    if path is None:
        reason = f"JavaScript clients need the {command} command on the PATH: see nodejs.org"
        raise UnavailableClientError(reason)
    return path
