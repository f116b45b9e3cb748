"""An archive of Spark's classes: a JVM with an archive neither reads nor links them again.

Java writes it at the end of a JVM that was started with that option (class data sharing, JEP 350), which
takes longer than a small analysis. So a session leaves its JVM running for that, as `git gc --auto` continues
after a command. The first session does not, as it may be the only one. Java itself checks that an archive
fits the jars, and starts without it otherwise.
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
"""The setting of a session that loads the same classes as later ones: the second such session makes the
archive."""

QUIET: Final = "-Xlog:cds*=off"
"""Without this option Java would log each class that it can't archive."""

PATIENCE: Final = 60.0
"""Seconds after which an incomplete archive is no longer being written."""

FORGOTTEN: Final = 30 * 86_400.0
"""Seconds after which an unused archive is removed: it has 190 MB, and each environment has its own."""


class Archive(NamedTuple):
    """The archive of a JVM, and whether the JVM makes it or uses it."""

    path: Path
    makes: bool

    @property
    def options(self) -> str:
        """Return the options of the JVM."""
        option = "ArchiveClassesAtExit" if self.makes else "SharedArchiveFile"
        return f"{shlex.quote(f'-XX:{option}={self.path}')} {QUIET}"

    def ended_well(self) -> None:
        """Record that the session ended normally, so that the archive will have all of its classes."""
        with contextlib.suppress(OSError):
            _mark(self.path).touch()


def archive(home: Path, jars: Path, conf: Mapping[str, str]) -> Archive | None:
    """Return the archive for a JVM, or None if it is unavailable now.

    `home` is Java's, `jars` are Spark's, `conf` has the session's settings.
    """
    try:
        path = _archive_path(home, jars, conf.get(JAVA_OPTIONS, ""))
        if is_whole(path) and _mark(path).exists():
            with contextlib.suppress(OSError):  # it belongs to another user
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
    except (OSError, RuntimeError):  # there is no home, or it is read-only
        return None


def _archive_path(home: Path, jars: Path, options: str) -> Path:
    """Return the path of the archive for a Java, its options, and these jars."""
    modules = (home / "lib" / "modules").resolve()
    made_of = modules, modules.stat().st_mtime_ns, jars, jars.stat().st_mtime_ns, options
    name = hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]
    return cache() / "classes" / f"spark-{name}.jsa"


def _remove_unused(folder: Path) -> None:
    for path in folder.glob("spark-*.jsa"):
        if _age(path) >= FORGOTTEN:
            _mark(path).unlink(missing_ok=True)
            path.unlink(missing_ok=True)


def is_whole(path: Path) -> bool:
    """Return whether an archive has its header, which Java writes last."""
    try:
        with path.open("rb") as file:
            return any(file.read(4))
    except FileNotFoundError:
        return False


def _mark(path: Path) -> Path:
    """Return the path of the mark that the session ended normally.

    A JVM that is terminated early writes an archive of the classes loaded so far.
    """
    return path.with_suffix(".trusted")


def _age(path: Path) -> float:
    """Return the seconds since a file was written or used."""
    return time.time() - path.stat().st_mtime
