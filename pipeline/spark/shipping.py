"""Our code for workers elsewhere: a zip of it, and what else must be installed there.

A cluster's workers unpack it, since some of it must be files (programs that a target starts, sources that
it builds); those of a Spark Connect server import from the zip, as there is no other way there.
"""

from __future__ import annotations

import importlib
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from barnabas.location import PACKAGE, ROOT

UNPACKED: Final = "barnabas-packages"
"""The folder in which workers unpack it, below the one that they run in."""

NEEDED: Final = ("construct", "cramjam", "crc32c", "jmespath", "numpy", "pyarrow", "pandas")
"""Modules of others that it imports; they have native parts and can't be shipped."""


def pack(to: Path) -> Path:
    """Write the package as a zip that Python imports from; returns its path."""
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files():
            archive.write(path, path.relative_to(ROOT).as_posix())
    return to


def _files() -> Iterator[Path]:
    # in a source tree the parts are links to folders, which Path.rglob does not enter
    for folder, _, names in sorted(os.walk(PACKAGE, followlinks=True)):
        for path in (Path(folder, name) for name in sorted(names)):
            if path.suffix not in (".pyc", ".pcap", ".pcapng", ".gz", ".zst"):
                yield path


def missing(_: object = None) -> list[str]:
    """What can't be imported where this runs. It is called on workers, once before anything else.

    >>> missing()
    []
    """
    lacking = []
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except ImportError as problem:
            lacking.append(problem.name or name)
    return sorted(set(lacking))
