"""A project of somebody's with tests of their own, and pytest runs in it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

from tests.places import ROOT

OF_THE_TREE = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""The plugin from this tree, whether or not it is installed."""


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Put files there: path -> text."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


def command(*arguments: str) -> list[str]:
    """pytest with the plugin of the tree."""
    program = [sys.executable, "-m", "pytest", "-p", "barnabas.pytest_plugin"]
    return [*program, "-p", "no:cacheprovider", "--basetemp", "kept", *arguments]


def environment(**more: str) -> dict[str, str]:
    """Ours with changes, and nothing that steers the pytest that runs this."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return {**mine, "COLUMNS": "200", **more}


def run(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run its tests to the end."""
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        cwd=folder,
        env=environment(**{**OF_THE_TREE, **more}),
    )
