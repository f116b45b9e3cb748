"""The sequence in a real browser: what rules did is seen, and reached by keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.page.browser import LOOKS, axe, barnabas, page_at

if TYPE_CHECKING:
    from playwright.sync_api import Page

MOVED = "old => document.querySelector('.mark text').textContent != old"

pytestmark = [pytest.mark.needs_chromium, pytest.mark.timeout(180)]


def height(page: Page, kind: str) -> float:
    """Pixels of time that a message takes inside of the proxy."""
    box = page.locator(f"{kind} .inside").first.bounding_box()
    assert box
    return box["height"]


def mark(page: Page) -> str | None:
    """The first time at the axis."""
    return page.locator(".mark text").first.text_content()


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_what_rules_did_is_seen_and_reached_by_keys(scheme: str, width: int) -> None:
    with (
        barnabas("open", "captures/samples/faults.pcapng") as ready,
        page_at(ready["page"] + "&view=sequence", scheme, width) as page,
    ):
        page.get_by_label("Show").select_option("all")
        page.get_by_text("104 messages").wait_for()
        assert height(page, ".message.response.late") > 5  # Produce: a delay
        assert height(page, ".message.request.late") > 5  # OffsetCommit: a hold
        assert page.locator(".message.request.lost").count() == 1  # answered by the proxy
        assert page.locator(".message.response.lost").count() == 1  # cut
        assert page.locator(".lane.clients title").all_text_contents() == ["reader", "writer"]
        assert axe(page) == []

        # a message by keys, with what belongs to it
        while "OffsetCommit v" not in (page.text_content(".said") or ""):
            page.keyboard.press("k")
            page.wait_for_selector(".message.picked", state="attached")
        assert "response" in (page.text_content(".said") or "")
        for key in "z", "-":
            assert page.locator(".message.request.late.mate").count() == 1
            assert page.locator(".joins").count() == 1
            before = mark(page)
            page.keyboard.press(key)
            page.wait_for_function(MOVED, arg=before)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="OffsetCommit").wait_for()
        page.keyboard.press("Escape")
        page.wait_for_selector("aside", state="detached")

        # all as text
        page.keyboard.press("0")
        page.keyboard.press("t")
        rows = page.locator("tbody tr")
        rows.nth(103).wait_for()
        rows.get_by_text("made by the proxy").wait_for()
        assert axe(page) == []
