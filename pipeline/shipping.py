"""Our code for workers elsewhere: a zip of it, and what else must be installed there.

A cluster's workers unpack it, since some of it must be files (programs that a target starts, sources that
it builds); those of a Spark Connect server import from the zip, as there is no other way there.
"""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PACKAGES: Final = ("specs", "captures", "pipeline", "peers", "fuzz", "proxy", "barnabas")
"""What runs on workers; the last two are a target of the fuzzer."""

UNPACKED: Final = "barnabas-packages"
"""The folder in which workers unpack it, below the one that they run in."""

NEEDED: Final = ("construct", "cramjam", "crc32c", "jmespath", "numpy", "pyarrow", "pandas")
"""Modules of others that it imports; they have native parts and can't be shipped."""

_ROOT: Final = Path(__file__).parent.parent


def root() -> Path:
    """The folder that holds our packages."""
    return _ROOT


def pack(to: Path) -> Path:
    """Write the packages as a zip that Python imports from; returns its path."""
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files():
            archive.write(path, path.relative_to(_ROOT).as_posix())
    return to


def _files() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((_ROOT / package).rglob("*")):
            if path.is_file() and path.suffix not in (".pyc", ".pcap", ".pcapng", ".gz", ".zst"):
                yield path


def missing(_: object = None) -> list[str]:
    """What can't be imported where this runs. It is called on workers, once before anything else.

    >>> missing()
    []
    """
    lacking = []
    for name in (*NEEDED, *PACKAGES):
        try:
            importlib.import_module(name)
        except ImportError as problem:
            lacking.append(problem.name or name)
    return sorted(set(lacking))
