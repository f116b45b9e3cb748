"""Clients in Python: each release in a venv of its own, with the program that uses it."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from barnabas.peers.clients.cache import folder, run
from barnabas.peers.clients.client import Program

_PROGRAMS: Final = Path(__file__).parent / "programs"
_COUNTING: Final = _PROGRAMS / "counting.py"
REPORTER: Final = _PROGRAMS / "counted_lines.py"
"""What makes a report of counted lines."""

EXTRAS: Final = {
    "kafka-python": "[lz4,snappy,zstd]",
    "aiokafka": "[lz4,snappy,zstd]",
    "confluent-kafka": "",
}
"""PyPI's name -> what it needs to read every compression, if that is not in it."""

BESIDE: Final = {"kafka-python": ["xxhash"]}
"""PyPI's name -> what no extra of it has, and its errors ask for: LZ4 as brokers 0.8 and 0.9 write it."""

IMPORTS: Final = {"aiokafka": ((0, 9), "kafka-python==2.0.2")}
"""PyPI's name -> releases before this one import that, and say no upper bound."""

OLD: Final = {"confluent-kafka": ((2, 0), "3.9")}
"""PyPI's name -> releases before this one run on that Python: they have no wheels for newer ones."""


IMPORTED: Final = {"kafka-python": "kafka", "aiokafka": "aiokafka"}
"""PyPI's name -> the package whose lines are counted; confluent-kafka is C."""


def python_program(package: str, name: str, version: str, *, counted: bool = False) -> Program:
    """Return the program in `programs/` of that name, with a release of a package on PyPI.

    counted: whether coverage.py counts the package's lines. Raises UnavailableClientError.
    """
    python = _venv(package, version, counted)
    if not counted:
        return program(python, name)._replace(forks=True)
    return program(python, name, (str(_COUNTING), IMPORTED[package]))


def program(python: Path, name: str, how: Sequence[str] = ()) -> Program:
    """Return the program in `programs/` of that name, run by a Python that has the client.

    how: the script that runs it, if not Python itself.
    """
    return Program([str(python), "-E", *how, str(_PROGRAMS / "lines.py"), name])


def _venv(package: str, version: str, counted: bool) -> Path:
    """Return the Python of a venv with that release; make the venv if it is missing."""
    running, base = f"{sys.version_info[0]}.{sys.version_info[1]}", sys.executable
    first, old = OLD.get(package, ((0,), ""))
    number = tuple(int(part) for part in re.findall(r"\d+", version))
    if number < first:
        running, base = old, f"python{old}"
    with folder(f"{package}-{version}-python{running}") as place:
        python, done = place / "bin" / "python", place / "done"
        if not done.exists():
            run(f"no venv for {package} {version}", [base, "-m", "venv", str(place)])
            wanted = f"{package}{EXTRAS.get(package, '')}=={version}"
            install = [str(python), "-m", "pip", "install", "--quiet", wanted]
            install += BESIDE.get(package, [])
            since, imported = IMPORTS.get(package, ((0,), ""))
            install += [imported] if number < since else []
            run(f"{package} {version} can't be installed", install)
            done.touch()
        if counted and not (place / "counted").exists():
            what = f"coverage can't be installed beside {package} {version}"
            run(what, [str(python), "-m", "pip", "install", "--quiet", "coverage>=7.6"])
            (place / "counted").touch()
        return python
