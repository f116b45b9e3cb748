"""Clients in Python: each release in a venv of its own, with the program that uses it."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from barnabas.peers.clients.cache import built, folder, run
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.upload_dates import uploaded

_PROGRAMS: Final = Path(__file__).parent / "programs"
_COUNTING: Final = _PROGRAMS / "counting.py"
REPORTER: Final = _PROGRAMS / "counted_lines.py"
"""The script that reports counted lines."""

EXTRAS: Final = {
    "kafka-python": "[lz4,snappy,zstd]",
    "aiokafka": "[lz4,snappy,zstd]",
    "confluent-kafka": "",
}
"""Extras that a package needs to read every compression, by PyPI's name."""

FURTHER_REQUIREMENTS: Final = {"kafka-python": ["xxhash"]}
"""Requirements that no extra includes, by PyPI's name: LZ4 as brokers 0.8 and 0.9 write it."""

_DATED_PIP: Final = "pip>=26"
"""The pip that can leave out later uploads (--uploaded-prior-to)."""
_MARGIN: Final = timedelta(days=1)
"""Time after a release's last upload in which its dependencies may have been uploaded."""

OLDER_PYTHON: Final = {"confluent-kafka": ((2, 0), "3.9")}
"""PyPI's name -> releases before this one run on that Python: they have no wheels for newer ones."""


NATIVE: Final = ("confluent-kafka",)
"""Packages in C: their programs print native stacks."""
_NATIVE_STACKS: Final = _PROGRAMS / "native_stacks.c"

COUNTED_PACKAGES: Final = {"kafka-python": "kafka", "aiokafka": "aiokafka"}
"""The package whose lines are counted, by PyPI's name; confluent-kafka is C."""


def python_program(package: str, name: str, version: str, *, counted: bool = False) -> Program:
    """Return the program in `programs/` of that name, with a release of a package on PyPI.

    Args:
        package: PyPI's name.
        name: of the program.
        version: of the package.
        counted: whether coverage.py counts the package's lines.

    Raises:
        UnavailableClientError: The package can't be installed.
    """
    python = _venv(package, version, counted)
    if not counted:
        environment = native_stacks_environment() if package in NATIVE else {}
        return program(python, name)._replace(environment=environment, forks=True)
    return program(python, name, (str(_COUNTING), COUNTED_PACKAGES[package]))


def native_stacks_environment() -> Mapping[str, str]:
    """Return an environment in which a process prints its native stack when it crashes.

    It is empty without a C compiler, and on other systems than Linux.
    """
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        return {}

    def build(path: Path) -> None:
        flags = ("-shared", "-fPIC", "-O1", "-o", str(path / "client"))
        run("native_stacks.c can't be built", [compiler, *flags, str(_NATIVE_STACKS), "-ldl"])

    try:
        return {"LD_PRELOAD": str(built("native-stacks", [_NATIVE_STACKS], build))}
    except UnavailableClientError:  # a libc without backtrace
        return {}


def program(python: Path, name: str, wrapper: Sequence[str] = ()) -> Program:
    """Return the program in `programs/` of that name, run by a Python that has the client.

    Args:
        python: the interpreter.
        name: of the program.
        wrapper: a script and its arguments that run the program, if not Python itself.
    """
    return Program([str(python), "-E", *wrapper, str(_PROGRAMS / "lines.py"), name])


def _venv(package: str, version: str, counted: bool) -> Path:
    """Return the Python of a venv with that release, and create the venv if it is missing."""
    running, base = f"{sys.version_info[0]}.{sys.version_info[1]}", sys.executable
    first, old = OLDER_PYTHON.get(package, ((0,), ""))
    number = tuple(int(part) for part in re.findall(r"\d+", version))
    if number < first:
        running, base = old, f"python{old}"
    with folder(f"{package}-{version}-python{running}") as path:
        python, done = path / "bin" / "python", path / "done"
        if not done.exists():
            run(f"no venv for {package} {version}", [base, "-m", "venv", str(path)])
            _install(python, package, version)
            done.touch()
        if counted and not (path / "counted").exists():
            task = f"coverage can't be installed beside {package} {version}"
            run(task, [str(python), "-m", "pip", "install", "--quiet", "coverage>=7.6"])
            (path / "counted").touch()
        return python


def _install(python: Path, package: str, version: str) -> None:
    """Install a release with the dependencies of its date, then what reads compressed records in any version.

    Compressing packages are excluded from the date, since their old releases have to be built.
    """
    pip, task = [str(python), "-m", "pip"], f"{package} {version} can't be installed"
    install = [*pip, "install", "--quiet"]
    date = uploaded(package, version, run("pip's settings can't be read", [*pip, "config", "list"]))
    if date is not None:
        run(f"{_DATED_PIP} can't be installed", [*install, _DATED_PIP])
        until = f"--uploaded-prior-to={(date + _MARGIN).isoformat()}"
        run(task, [*install, until, f"{package}=={version}"])
    requirement = f"{package}{EXTRAS.get(package, '')}=={version}"
    run(task, [*install, requirement, *FURTHER_REQUIREMENTS.get(package, [])])
