"""`python -m barnabas`: our own packages, whatever stands before them on the path."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import barnabas
from barnabas import __main__ as main

MAIN = Path(barnabas.__file__).with_name("__main__.py")


def test_ours_are_the_packages_of_the_wheel() -> None:
    project = tomllib.loads((MAIN.parents[1] / "pyproject.toml").read_text())
    found = project["tool"]["setuptools"]["packages"]["find"]["include"]
    assert {name.rstrip("*") for name in found} == set(main.OURS)


def test_folders_of_a_user_with_the_same_names_are_not_imported(tmp_path: Path) -> None:
    for name in main.OURS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('of the user')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def run(*how: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *how, "peers", "list"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=tmp_path,
            env=environment,
        )

    found = run("-P", str(MAIN))
    assert (found.returncode, found.stderr) == (0, "")
    assert "embedded" in found.stdout
    by_name = run("-P", "-c", "import proxy")
    assert "of the user" in by_name.stderr, "else this shows nothing"
