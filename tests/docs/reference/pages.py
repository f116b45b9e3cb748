"""The registry: every page, by its file below docs/reference/."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.docs.reference.checks import checks
from tests.docs.reference.columns import all_columns, analyses
from tests.docs.reference.commands import commands
from tests.docs.reference.control import control
from tests.docs.reference.exit_codes import exit_codes
from tests.docs.reference.faults import faults
from tests.docs.reference.fuzzing import fuzzing
from tests.docs.reference.protocol import fields, protocol
from tests.docs.reference.rules import rules, scenarios
from tests.places import ROOT

FOLDER: Final = ROOT / "docs" / "reference"

PAGES: Final[tuple[tuple[str, Callable[[], str]], ...]] = (
    ("commands.md", commands),
    ("rules.md", rules),
    ("faults.md", faults),
    ("scenarios.md", scenarios),
    ("checks.md", checks),
    ("analyses.md", analyses),
    ("columns.md", all_columns),
    ("fuzzing.md", fuzzing),
    ("control.md", control),
    ("exit-codes.md", exit_codes),
    ("protocol.md", protocol),
    ("fields.md", fields),
)
"""(file, what makes it)."""


def write(folder: Path = FOLDER) -> None:
    """Write all pages."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES:
        (folder / name).write_text(page(), encoding="utf-8")
