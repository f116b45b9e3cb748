"""Spark's classes in an archive: which run makes it, and that the next one has it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from barnabas.pipeline.spark.class_archive import (
    FORGOTTEN,
    KEEPS,
    MAKES,
    PATIENCE,
    is_whole,
    options,
)
from tests.places import ROOT

USES: Final = "-XX:SharedArchiveFile="

SESSION: Final = """
import sys
from barnabas.pipeline.spark.class_archive import KEEPS
from barnabas.pipeline.spark.session import LIGHT, session
java = f"{LIGHT['spark.driver.extraJavaOptions']} -Xlog:class+load:file={sys.argv[1]}"
with session("local[1]", {**LIGHT, **KEEPS, "spark.driver.extraJavaOptions": java}) as spark:
    assert spark.range(3).count() == 3
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
    assert options(home, home / "lib", KEEPS) == ""
    [path] = kept(tmp_path / "a cache")
    assert options(home, home / "lib", KEEPS) == "", "somebody may be writing"
    grow_old(path)
    assert options(home, home / "lib", KEEPS).startswith(f"'{MAKES}{path}' ")
    path.write_bytes(bytes(8))  # its header comes last
    grow_old(path)
    assert options(home, home / "lib", KEEPS).startswith(f"'{MAKES}{path}' ")
    path.write_bytes(b"\xa8\xba\x0b\xf0")
    assert options(home, home / "lib", KEEPS).startswith(f"'{USES}{path}' ")
    assert options(home, home / "lib", {}).startswith(f"'{USES}{path}' ")


def test_a_session_that_loads_little_leaves_it_to_others(home: Path, tmp_path: Path) -> None:
    assert options(home, home / "lib", {}) == ""
    assert not kept(tmp_path / "a cache")


@pytest.mark.parametrize("what", ["Java", "Spark", "options"])
def test_another_one_is_made_for_another(what: str, home: Path, tmp_path: Path) -> None:
    jars, conf = tmp_path / "jars", dict(KEEPS)
    jars.mkdir()
    options(home, jars, conf)
    if what == "Java":
        os.utime(home / "lib" / "modules", (0, 0))
    elif what == "Spark":
        os.utime(jars, (0, 0))
    else:
        conf["spark.driver.extraJavaOptions"] = "-XX:+UseG1GC"
    options(home, jars, conf)
    assert len(kept(tmp_path / "a cache")) == 2


def test_who_makes_one_removes_those_that_nobody_used_for_long(home: Path, tmp_path: Path) -> None:
    options(home, home / "lib", KEEPS)
    [path] = kept(tmp_path / "a cache")
    used, unused = path.with_name("spark-used.jsa"), path.with_name("spark-unused.jsa")
    for one, age in ((path, PATIENCE), (used, FORGOTTEN / 2), (unused, FORGOTTEN)):
        one.touch()
        grow_old(one, age)
    assert MAKES in options(home, home / "lib", KEEPS)
    assert kept(tmp_path / "a cache") == sorted([path, used])
    path.write_bytes(b"used")
    grow_old(path, FORGOTTEN)
    assert USES in options(home, home / "lib", {})
    assert time.time() - path.stat().st_mtime < PATIENCE


def test_without_a_place_for_it_there_is_none(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert options(home, home / "lib", KEEPS) == ""


@pytest.mark.needs_spark
def test_a_jvm_that_was_left_behind_makes_what_the_next_one_loads(tmp_path: Path) -> None:
    loaded, cache = tmp_path / "loaded.txt", tmp_path / "cache"

    def run() -> str:
        line = [sys.executable, "-c", SESSION, str(loaded)]
        given = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(line, env=given, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return loaded.read_text(errors="replace")

    shared = "org.apache.spark.SparkContext source: shared objects file (top)"
    assert shared not in run()
    [path] = kept(cache)
    grow_old(path)
    assert shared not in run()
    until = time.monotonic() + PATIENCE
    while not is_whole(path):
        assert time.monotonic() < until, "it was not made"
        time.sleep(0.1)
    assert shared in run()
