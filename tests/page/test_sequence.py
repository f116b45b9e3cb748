"""The sequence in a real browser: what rules did is seen, and reached by keys and mouse."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.page.browser import LOOKS, axe, barnabas, page_at

if TYPE_CHECKING:
    from playwright.sync_api import Page

MOVED = "old => document.querySelector('.mark text').textContent != old"
ON_A_SLOPE = """() => {
  const line = document.querySelector(".message.response.late .inside"), on = line.getScreenCTM();
  const {x, y} = line.getPointAtLength(line.getTotalLength() * .75);
  return [x * on.a + on.e, y * on.d + on.f];
}"""

pytestmark = [pytest.mark.needs_chromium, pytest.mark.timeout(180)]


def height(page: Page, kind: str) -> float:
    """Pixels of time that a message takes inside of the proxy."""
    box = page.locator(f"{kind} .inside").first.bounding_box()
    assert box
    return box["height"]


def mark(page: Page) -> str | None:
    """The first time at the axis."""
    return page.locator(".mark text").first.text_content()


@contextlib.contextmanager
def sequence_of(sample: str, *looks: Any) -> Iterator[Page]:
    with (
        barnabas("open", f"captures/samples/{sample}") as ready,
        page_at(ready["page"] + "&view=sequence", *looks) as page,
    ):
        yield page


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_what_rules_did_is_seen_and_reached_by_keys(scheme: str, width: int) -> None:
    with sequence_of("faults.pcapng", scheme, width) as page:
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


def test_a_drag_moves_and_a_click_opens() -> None:
    with sequence_of("faults.pcapng") as page:
        page.get_by_text("104 messages").wait_for()
        before = mark(page)
        page.mouse.move(800, 400)
        page.mouse.down()
        page.mouse.move(800, 300, steps=4)
        page.mouse.up()
        page.wait_for_function(MOVED, arg=before)
        assert page.locator("aside").count() == 0
        page.mouse.click(*page.evaluate(ON_A_SLOPE))
        page.get_by_role("heading", name="Produce").wait_for()
        assert page.locator(".message.response.late.picked").count() == 1


def test_in_a_capture_of_one_side_the_other_one_is_dashes() -> None:
    with sequence_of("wrong.pcap") as page:
        page.get_by_text("captured here").wait_for()
        messages = page.locator(".message").count()
        assert messages == page.locator(".message.unknown").count() > 0
