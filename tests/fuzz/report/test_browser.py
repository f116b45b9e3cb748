"""The page of a report in a real browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from barnabas.fuzz.report.cause import cause_name
from barnabas.fuzz.report.page import page
from barnabas.fuzz.report.summary import ApiRow, Summary
from tests.fuzz.report.test_reports import found
from tests.page.browser import axe, axe_in_both_schemes, page_at

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
        assert shown.locator("details.fold").count() == 3
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


@pytest.mark.needs_chromium
def test_a_link_leads_to_a_cause(found: list[Summary], tmp_path: Path) -> None:
    file = tmp_path / "findings.html"
    file.write_text(page(found))
    with page_at(file.as_uri()) as shown:
        cause = shown.locator(".cause").nth(1)
        cause.get_by_role("link").first.click()
        assert shown.url.endswith(f"#{cause_name(found[1].groups[1].cause)}")
        assert shown.locator(".cause:target").inner_text() == cause.inner_text()


@pytest.mark.needs_chromium
def test_rows_are_sorted_by_keys_and_columns_are_removed(
    found: list[Summary], tmp_path: Path
) -> None:
    names = ("Fetch", "Produce", "Metadata", "Heartbeat")
    changes = (99, 1_000, 12, 10_000)
    apis = tuple(ApiRow(name, 1, 1, 1, count) for name, count in zip(names, changes, strict=True))
    file = tmp_path / "findings.html"
    file.write_text(page([replace(found[1], apis=apis)]))
    with page_at(file.as_uri()) as shown:
        section = shown.locator("section", has=shown.locator("#c-coverage"))
        cells = section.locator("tbody td:first-child")
        heading = section.get_by_role("button", name="changes")
        heading.focus()
        for names_in_order, order in (
            (["Heartbeat", "Produce", "Fetch", "Metadata"], "descending"),
            (["Metadata", "Fetch", "Produce", "Heartbeat"], "ascending"),
        ):
            shown.keyboard.press("Enter")
            assert cells.all_inner_texts() == names_in_order
            assert section.locator("[aria-sort]").get_attribute("aria-sort") == order
        section.get_by_role("button", name="API").press("Space")
        assert cells.all_inner_texts() == sorted(names)
        section.get_by_text("Columns").click()
        section.get_by_role("checkbox", name="fields").uncheck()
        assert "fields" not in section.locator("thead").inner_text()
        assert axe(shown) == []
