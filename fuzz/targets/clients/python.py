"""Clients in Python: each release in a venv of its own, with the program that uses it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from barnabas.fuzz.targets.clients.cache import folder, run
from barnabas.fuzz.targets.clients.client import Client, Program

_PROGRAMS: Final = Path(__file__).parent / "programs"

EXTRAS: Final = {
    "kafka-python": "[lz4,snappy,zstd]",
    "aiokafka": "[lz4,snappy,zstd]",
    "confluent-kafka": "",
}
"""PyPI's name -> what it needs to read every compression, if that is not in it."""


def python_client(package: str, module: str, version: str) -> Client:
    """A release of a package on PyPI, used by a module of `programs/`."""

    def prepare() -> Program:
        return program(_venv(package, version), module)

    return Client(f"{package} {version}", package, prepare)


def program(python: Path, module: str) -> Program:
    """A module of `programs/`, run by a Python that has the client."""
    return Program([str(python), "-E", str(_PROGRAMS / "lines.py"), module])


def _venv(package: str, version: str) -> Path:
    """The Python of a venv with that release; made where there is none yet. Raises CannotRun."""
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    with folder(f"{package}-{version}-python{running}") as place:
        python, done = place / "bin" / "python", place / "done"
        if not done.exists():
            run(f"no venv for {package} {version}", [sys.executable, "-m", "venv", str(place)])
            wanted = f"{package}{EXTRAS.get(package, '')}=={version}"
            install = [str(python), "-m", "pip", "install", "--quiet", wanted]
            run(f"{package} {version} can't be installed", install)
            done.touch()
        return python
