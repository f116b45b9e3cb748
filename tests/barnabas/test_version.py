"""The version is written once, in pyproject.toml; all else reads it there or in the package's metadata."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import barnabas
from barnabas import version
from tests.places import ROOT

WRITTEN = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_a_checkout_has_the_version_of_its_pyproject() -> None:
    assert barnabas.__version__ == WRITTEN
    done = subprocess.run(
        [sys.executable, "-m", "barnabas", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout == f"barnabas {WRITTEN}\n"


@pytest.mark.parametrize("beside", [None, "[project]\nname = 'other'\nversion = '9'\n", "x =", ""])
def test_installed_it_has_that_of_its_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beside: str | None
) -> None:
    if beside is not None:
        (tmp_path / "pyproject.toml").write_text(beside)
    monkeypatch.setattr(version, "ROOT", tmp_path)
    folder = tmp_path / "barnabas-1.2.3.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.4\nName: barnabas\nVersion: 1.2.3\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert version.version() == "1.2.3"


def test_a_copy_that_was_never_installed_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert version.version() == "0+unknown"


def test_the_changelog_has_it() -> None:
    assert f"## [{WRITTEN}]" in (ROOT / "CHANGELOG.md").read_text()
