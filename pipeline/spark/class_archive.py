"""An archive of the classes that Spark loads: a JVM that has one neither reads nor links them anew.

Java makes it at the end of a JVM that was asked to (class data sharing, JEP 350), which takes longer than a
small analysis: a session leaves its JVM behind for that, as `git gc --auto` goes on behind a command. Not the
first one, which may be the only one. Java itself looks whether an archive fits the jars, and starts without
one that does not.
"""

from __future__ import annotations

import contextlib
import hashlib
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.location import cache

JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
"""The setting with the options of the JVM."""

KEEPS: Final[Mapping[str, str]] = {"spark.barnabas.keepsClasses": "true"}
"""The setting of a session which loads what others will, too: the second makes the archive."""

QUIET: Final = "-Xlog:cds*=off"
"""It would name each class that it can't keep."""

PATIENCE: Final = 60.0
"""Seconds after which nobody writes any more what is not whole."""

FORGOTTEN: Final = 30 * 86_400.0
"""Seconds after which an archive that nobody used is removed: it has 190 MB, and each environment its own."""


class Archive(NamedTuple):
    """What a JVM is to do with the archive at a path: make it, or use it."""

    path: Path
    makes: bool

    @property
    def options(self) -> str:
        """The options of a JVM that does."""
        option = "ArchiveClassesAtExit" if self.makes else "SharedArchiveFile"
        return f"{shlex.quote(f'-XX:{option}={self.path}')} {QUIET}"

    def ended_well(self) -> None:
        """Its session did: the archive will have all that such a session loads."""
        with contextlib.suppress(OSError):
            _trusted(self.path).touch()


def archive(home: Path, jars: Path, conf: Mapping[str, str]) -> Archive | None:
    """The archive for a JVM; None if it can't be had now.

    home: of Java. jars: Spark's. conf: the session's settings.
    """
    try:
        path = _place(home, jars, conf.get(JAVA_OPTIONS, ""))
        if is_whole(path) and _trusted(path).exists():
            with contextlib.suppress(OSError):  # it is somebody else's
                path.touch()
            return Archive(path, makes=False)
        if not KEEPS.items() <= conf.items():
            return None
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            return None
        if _age(path) < PATIENCE:
            return None
        _remove_unused(path.parent)
        return Archive(path, makes=True)
    except (OSError, RuntimeError):  # no home, or nobody may write there
        return None


def _place(home: Path, jars: Path, options: str) -> Path:
    """Of the archive for a Java and its options, and for these jars."""
    modules = (home / "lib" / "modules").resolve()
    made_of = modules, modules.stat().st_mtime_ns, jars, jars.stat().st_mtime_ns, options
    name = hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]
    return cache() / "classes" / f"spark-{name}.jsa"


def _remove_unused(folder: Path) -> None:
    for path in folder.glob("spark-*.jsa"):
        if _age(path) >= FORGOTTEN:
            _trusted(path).unlink(missing_ok=True)
            path.unlink(missing_ok=True)


def is_whole(path: Path) -> bool:
    """Whether there is an archive with its header, which Java writes last."""
    try:
        with path.open("rb") as file:
            return any(file.read(4))
    except FileNotFoundError:
        return False


def _trusted(path: Path) -> Path:
    """What says that the session which makes the archive did all that it was to do: a JVM that is terminated
    early makes one of what it has loaded so far."""
    return path.with_suffix(".trusted")


def _age(path: Path) -> float:
    """Seconds since it was written or used."""
    return time.time() - path.stat().st_mtime
