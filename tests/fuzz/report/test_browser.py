"""The page of a report in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.fuzz.report.page import page
from barnabas.fuzz.report.summary import Summary
from tests.fuzz.report.test_reports import found
from tests.page.browser import axe_in_both_schemes, page_at

__all__ = ["found"]


@pytest.mark.needs_chromium
@pytest.mark.parametrize("width", [1400, 420])
def test_a_report_is_no_wider_than_the_screen_and_usable_by_all(
    found: list[Summary], tmp_path: Path, width: int
) -> None:
    file = tmp_path / "findings.html"
    file.write_text(page(found))
    with page_at(file.as_uri(), width=width) as shown:
        shown.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert shown.evaluate("document.documentElement.scrollWidth") == width
        assert shown.locator("details").count() == 3
        assert axe_in_both_schemes(shown) == []


@pytest.mark.needs_chromium
def test_a_link_opens_its_finding_whose_command_can_be_copied(
    found: list[Summary], tmp_path: Path
) -> None:
    file = tmp_path / "findings.html"
    file.write_text(page(found))
    name = found[1].findings[1].name
    with page_at(f"{file.as_uri()}#{name}") as shown:
        assert shown.locator("details[open]").count() == 1
        shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
        shown.locator("details[open]").get_by_role("button", name="Copy").first.click()
        shown.get_by_role("status").get_by_text("copied").wait_for()
        copied = str(shown.evaluate("navigator.clipboard.readText()"))
        assert copied.startswith(f"barnabas fuzz replay {name} --db ")
