"""Spark's classes in an archive: which run makes it, and that the next one has it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from barnabas.pipeline.spark.class_archive import (
    FORGOTTEN,
    KEEPS,
    PATIENCE,
    QUIET,
    Archive,
    archive,
    is_whole,
)
from tests.places import ROOT
from tests.running import running

SESSION: Final = """
import sys
from barnabas.pipeline.spark.class_archive import KEEPS
from barnabas.pipeline.spark.session import LIGHT, session
java = f"{LIGHT['spark.driver.extraJavaOptions']} -Xlog:class+load:file={sys.argv[1]}"
with session("local[1]", {**LIGHT, **KEEPS, "spark.driver.extraJavaOptions": java}) as spark:
    assert spark.range(3).count() == 3
    if sys.argv[2:]:
        raise KeyboardInterrupt
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That of a Java; there is nothing yet in the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache"))
    modules = tmp_path / "java" / "lib" / "modules"
    modules.parent.mkdir(parents=True)
    modules.touch()
    return tmp_path / "java"


def kept(cache: Path) -> list[Path]:
    return sorted((cache / "barnabas" / "classes").glob("*"))


def grow_old(path: Path, seconds: float = PATIENCE) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_the_second_session_makes_it_and_those_behind_have_it(home: Path, tmp_path: Path) -> None:
    def found() -> Archive | None:
        return archive(home, home / "lib", KEEPS)

    assert archive(home, home / "lib", {}) is None
    assert not kept(tmp_path / "a cache"), "a session that loads little leaves it to others"
    assert found() is None
    [path] = kept(tmp_path / "a cache")
    assert found() is None, "somebody may be writing"
    grow_old(path)
    makes = Archive(path, makes=True)
    assert found() == makes
    makes.ended_well()
    path.write_bytes(bytes(8))  # its header comes last
    grow_old(path)
    assert found() == makes
    path.write_bytes(b"\xa8\xba\x0b\xf0")
    assert found() == Archive(path, makes=False) == archive(home, home / "lib", {})


def test_one_of_a_session_that_did_not_end_well_is_made_again(home: Path, tmp_path: Path) -> None:
    archive(home, home / "lib", KEEPS)
    [path] = kept(tmp_path / "a cache")
    path.write_bytes(b"\xa8\xba\x0b\xf0")
    assert archive(home, home / "lib", KEEPS) is None
    grow_old(path)
    assert archive(home, home / "lib", KEEPS) == Archive(path, makes=True)


def test_its_path_may_have_spaces() -> None:
    made = Archive(Path("/a b.jsa"), makes=True).options
    used = Archive(Path("/a b.jsa"), makes=False).options
    assert shlex.split(made) == ["-XX:ArchiveClassesAtExit=/a b.jsa", QUIET]
    assert shlex.split(used) == ["-XX:SharedArchiveFile=/a b.jsa", QUIET]


@pytest.mark.parametrize("what", ["Java", "Spark", "options"])
def test_another_one_is_made_for_another(what: str, home: Path, tmp_path: Path) -> None:
    jars, conf = tmp_path / "jars", dict(KEEPS)
    jars.mkdir()
    archive(home, jars, conf)
    if what == "Java":
        os.utime(home / "lib" / "modules", (0, 0))
    elif what == "Spark":
        os.utime(jars, (0, 0))
    else:
        conf["spark.driver.extraJavaOptions"] = "-XX:+UseG1GC"
    archive(home, jars, conf)
    assert len(kept(tmp_path / "a cache")) == 2


def test_who_makes_one_removes_those_that_nobody_used_for_long(home: Path, tmp_path: Path) -> None:
    archive(home, home / "lib", KEEPS)
    [path] = kept(tmp_path / "a cache")
    used, unused = path.with_name("spark-used.jsa"), path.with_name("spark-unused.jsa")
    for one, age in ((path, PATIENCE), (used, FORGOTTEN / 2), (unused, FORGOTTEN)):
        one.touch()
        Archive(one, makes=True).ended_well()
        grow_old(one, age)
    assert archive(home, home / "lib", KEEPS) == Archive(path, makes=True)
    there = [path.with_suffix(".trusted"), path, used.with_suffix(".trusted"), used]
    assert kept(tmp_path / "a cache") == sorted(there)
    path.write_bytes(b"used")
    grow_old(path, FORGOTTEN)
    assert archive(home, home / "lib", {}) == Archive(path, makes=False)
    assert time.time() - path.stat().st_mtime < PATIENCE


def test_without_a_place_for_it_there_is_none(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert archive(home, tmp_path, KEEPS) is None


@pytest.mark.needs_spark
@pytest.mark.deep("four JVMs, one after the other")
def test_a_jvm_that_was_left_behind_makes_what_the_next_one_loads(tmp_path: Path) -> None:
    loaded, cache = tmp_path / "loaded.txt", tmp_path / "cache"

    def run(*interrupted: str) -> str:
        line = [sys.executable, "-c", SESSION, str(loaded), *interrupted]
        given = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(line, env=given, cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout == ""
        assert (done.returncode, done.stderr) == (0, "") or interrupted
        return loaded.read_text(errors="replace")

    shared = "org.apache.spark.SparkContext source: shared objects file (top)"
    assert shared not in run()
    [path] = kept(cache)
    grow_old(path)
    run("interrupted")
    assert running(cache) == [], "none is left to make one of too little"
    assert kept(cache) == [path]
    assert path.stat().st_size == 0
    assert shared not in run()
    until = time.monotonic() + PATIENCE
    while not is_whole(path):
        assert time.monotonic() < until, "it was not made"
        time.sleep(0.1)
    assert shared in run()
