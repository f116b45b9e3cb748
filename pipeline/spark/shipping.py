"""Our code for remote workers: a zip of it, and the packages that must be installed there.

A cluster's workers unpack it, since some of it must be files (programs that a target starts, sources that it
builds). Workers of a Spark Connect server can only import from the zip.
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
"""The folder into which workers unpack it, below their working folder."""

NEEDED: Final = ("construct", "cramjam", "crc32c", "jmespath", "numpy", "pyarrow", "pandas")
"""Other packages' modules that it imports; they have native parts and can't be shipped."""


def pack(to: Path) -> Path:
    """Write the package as a zip that Python imports from, and return its path."""
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files():
            archive.write(path, path.relative_to(ROOT).as_posix())
    return to


def _files() -> Iterator[Path]:
    # a source tree has links to folders, which Path.rglob does not follow
    for folder, _, names in sorted(os.walk(PACKAGE, followlinks=True)):
        for path in (Path(folder, name) for name in sorted(names)):
            if path.suffix not in (".pyc", ".pcap", ".pcapng", ".gz", ".zst"):
                yield path


def missing(_: object = None) -> list[str]:
    """Return the modules that can't be imported on a worker. It is called before anything else.

    >>> missing()
    []
    """
    absent = []
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except ImportError as problem:
            absent.append(problem.name or name)
    return sorted(set(absent))
