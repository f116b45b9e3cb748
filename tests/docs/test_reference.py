from __future__ import annotations

from collections.abc import Callable

import pytest

from barnabas.captures.checks import CHECKS
from barnabas.proxy.faults import FAULTS
from tests.docs.reference.commands import every
from tests.docs.reference.pages import FOLDER, PAGES


@pytest.mark.parametrize(("name", "page"), PAGES, ids=[name for name, _ in PAGES])
def test_a_page_is_as_the_code_says(name: str, page: Callable[[], str]) -> None:
    assert (FOLDER / name).read_text("utf-8") == page(), "run python -m tests.docs.reference"


def test_there_are_no_other_pages() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {name for name, _ in PAGES}


def test_every_fault_check_and_command_has_its_place() -> None:
    faults = (FOLDER / "faults.md").read_text("utf-8")
    assert [name for name, *_ in FAULTS if f"\n## {name}\n" not in faults] == []
    checks = (FOLDER / "checks.md").read_text("utf-8")
    assert [check.name for check in CHECKS if f"\n| `{check.name}` |" not in checks] == []
    commands = (FOLDER / "commands.md").read_text("utf-8")
    assert [name for name, _ in every() if f"\n## {name}\n" not in commands] == []
