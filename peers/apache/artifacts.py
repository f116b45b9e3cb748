"""Jars by Maven coordinates, resolved and downloaded with jgo, without mvn, and kept in a repository.

The repository is `$M2_REPO`, or `barnabas/maven` in the user's cache directory (`$XDG_CACHE_HOME`, ~/.cache).
A complete class path is noted next to it, so that the next start works offline.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from barnabas.location import cache
from barnabas.peers.apache.errors import UnavailableError

NEWEST: Final = 8
"""Versions to list when the requested one is missing."""


def repository() -> Path:
    """Return the folder of the downloaded jars, laid out as a Maven repository."""
    return Path(os.environ.get("M2_REPO") or cache() / "maven")


def class_path(coordinates: Sequence[str]) -> tuple[Path, ...]:
    """Return the jars of some artifacts (`group:name:version`) and of their runtime dependencies.

    Missing jars are downloaded, with a progress line on stderr.

    Raises:
        UnavailableError: A jar can't be downloaded; the message is one line.
    """
    note = cache() / "classpaths" / f"{_name(coordinates)}.json"
    with contextlib.suppress(OSError, ValueError):
        jars = tuple(repository() / jar for jar in json.loads(note.read_text()))
        if jars and all(jar.exists() for jar in jars):
            return jars
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        with _alone(note.with_name("downloading.lock")):
            jars = _download(coordinates)
            text = json.dumps([str(jar.relative_to(repository())) for jar in jars], indent=1)
            note.write_text(text + "\n")
    except OSError as problem:  # requests' exceptions are OSErrors too
        raise UnavailableError(_reason(coordinates, problem)) from None
    return jars


def _name(coordinates: Sequence[str]) -> str:
    """Return a file name for coordinates: the first coordinates, and a digest of all."""
    digest = hashlib.sha256(" ".join(coordinates).encode()).hexdigest()[:12]
    return "-".join([*coordinates[0].split(":")[1:], digest])


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Hold a lock while downloading: artifacts share dependencies, and jgo expects no other process."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _download(coordinates: Sequence[str]) -> tuple[Path, ...]:
    try:
        from jgo.maven import MavenContext, PythonResolver
        from jgo.parse import Coordinate
    except ImportError:
        raise UnavailableError(
            "real brokers are downloaded with jgo: install barnabas with the extra 'apache'"
        ) from None
    context = MavenContext(resolver=PythonResolver(), repo_cache=repository(), local_repos=[])
    dependencies = [
        context.create_dependency(Coordinate(group, name, version, scope="compile"))
        for group, name, version in (coordinate.split(":") for coordinate in coordinates)
    ]
    try:
        with _progress(f"resolving {coordinates[0]}") as say:
            inputs, needed = context.resolver.resolve(dependencies)
            used = [*inputs, *needed]  # not the test and provided scopes
            jars = []
            for i, dependency in enumerate(used, start=1):
                jars.append(_whole(dependency.artifact))
                say(f"downloading {coordinates[0]}: {i} of {len(used)} jars")
    except RuntimeError as problem:  # jgo's error for an artifact that the repository lacks
        group, name, version = coordinates[0].split(":")
        if f"{group}:{name}:pom:{version} " in str(problem):
            raise UnavailableError(_no_release(context, group, name, version)) from None
        raise UnavailableError(_reason(coordinates, problem)) from None
    return tuple(jars)


def _no_release(context: Any, group: str, name: str, version: str) -> str:
    """Return an error message for a missing version, with the newest versions that Maven Central has."""
    project = context.project(group, name)
    versions: list[str] = []
    with contextlib.suppress(OSError, RuntimeError):  # it has no such artifact at all
        project.update()
        versions = project.metadata.versions
    listed = f"; it has {', '.join(versions[: -NEWEST - 1 : -1])}" if versions else ""
    older = f" and {len(versions) - NEWEST} older ones" if len(versions) > NEWEST else ""
    return f"Maven Central has no {name} {version}{listed}{older}"


def _whole(artifact: Any) -> Path:
    """Return an artifact's jar, downloaded again if an earlier download was cut off."""
    cached: Path = artifact.cached_path
    if cached.exists() and not zipfile.is_zipfile(cached):
        cached.unlink()
    jar = Path(artifact.resolve())
    if not zipfile.is_zipfile(jar):
        jar.unlink()
        raise OSError(f"the download of {jar.name} is incomplete")
    return jar


@contextlib.contextmanager
def _progress(text: str) -> Iterator[Any]:
    """Show a line on stderr that a terminal overwrites; elsewhere only its first text is printed."""
    on_terminal = sys.stderr.isatty()

    def say(line: str) -> None:
        if on_terminal:
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()

    sys.stderr.write(text if on_terminal else f"{text} ...\n")
    sys.stderr.flush()
    try:
        yield say
    finally:
        if on_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _reason(coordinates: Sequence[str], problem: Exception) -> str:
    """Return one line with the reason for a failed download."""
    names = " ".join(coordinates)
    text = " ".join(str(problem).split())
    if "not found in remote repositories" in text:
        return f"Maven Central lacks a part of {names}: {text.partition(' not found')[0]}"
    if type(problem).__module__.startswith("requests"):
        text = f"no answer from Maven Central ({type(problem).__name__})"
    return f"could not download {names} (needed once): {text}"
