"""The sequence shows a connection at first, to scale or by step, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.page.browser import LOOKS, axe, barnabas, page_at

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.needs_chromium, pytest.mark.timeout(180)]

ROWS = "marks => marks.map(mark => Number(mark.getAttribute('y')))"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with barnabas("open", "captures/samples/faults.pcapng") as ready:
        yield ready["page"]


def selected(page: Page) -> str:
    """The title of what is selected."""
    text: str = page.get_by_label("Show").evaluate("one => one.selectedOptions[0].textContent")
    return text


def view(page: Page, name: str) -> None:
    page.get_by_role("navigation").get_by_role("button", name=name).click()


def test_at_first_it_is_the_newest_connection_and_a_selection_is_remembered(address: str) -> None:
    with page_at(address, view="sequence") as page:
        page.get_by_text("15 messages").wait_for()
        assert selected(page) == "7: reader → broker 2"
        groups = page.get_by_label("Show").locator("optgroup")
        labels = groups.evaluate_all("all => all.map(each => each.label)")
        assert labels == ["Connections", "Clients", "Groups"]
        page.get_by_label("Show").select_option("readers")
        page.get_by_text("12 messages").wait_for()
        view(page, "Groups")
        view(page, "Sequence")
        page.get_by_text("12 messages").wait_for()
        assert selected(page) == "readers"
        page.get_by_label("Show").select_option("writer")
        page.get_by_text("30 messages").wait_for()
        assert page.locator(".lane.clients title").all_text_contents() == ["writer"]


def test_it_follows_the_exchange_that_is_chosen(address: str) -> None:
    with page_at(address + "&view=sequence&at=0") as page:
        page.locator(".message.picked").wait_for(state="attached")
        assert selected(page) == "1: writer → 127.0.0.1:41619"
        page.get_by_label("Show").select_option("all")
        view(page, "Exchanges")
        page.locator(".row").last.click()
        view(page, "Sequence")  # another exchange is chosen now
        page.wait_for_function(
            "() => document.querySelector('main.sequence select')?.selectedOptions[0].textContent"
            ".includes('reader')"
        )


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_by_step_each_event_has_a_row(address: str, scheme: str, width: int) -> None:
    with page_at(address, scheme, width, view="sequence") as page:
        page.get_by_text("15 messages").wait_for()
        page.get_by_role("button", name="By step").click()
        marks = page.locator(".mark text")
        places = marks.evaluate_all(ROWS)
        assert len(places) == 15  # each left at once
        assert {after - before for before, after in pairwise(places)} == {24}
        times = marks.all_text_contents()
        assert times == sorted(times)
        assert times[0] == "12.464324"
        assert page.locator(".message text").count() == 15
        assert axe(page) == []

        # the longer one has more rows than fit: keys reach them all
        page.get_by_label("Show").select_option("all")
        page.get_by_text("104 messages").wait_for()
        assert len(marks.all_text_contents()) < 60
        page.locator(".chart").click(position={"x": 2, "y": 300})
        for key, time in ("End", "12.829"), ("Home", "11.095"):
            page.get_by_label("Show").blur()
            page.keyboard.press(key)
            page.locator(".mark text", has_text=time).first.wait_for()
        page.keyboard.press("k")
        page.locator(".message.picked").wait_for(state="attached")  # scrolled to
        page.keyboard.press("Escape")
        page.keyboard.press("s")
        page.wait_for_function("() => document.querySelectorAll('.mark text').length < 16")
        pressed = page.get_by_role("button", name=re.compile("^To scale$"))
        assert pressed.get_attribute("aria-pressed") == "true"
        assert axe(page) == []


def test_what_is_chosen_has_its_label_in_dense_places_too(address: str) -> None:
    with page_at(address, width=1400, view="sequence") as page:
        page.get_by_label("Show").select_option("all")
        page.get_by_text("104 messages").wait_for()
        page.get_by_label("Show").blur()
        for _ in range(12):
            page.keyboard.press("k")
            page.locator(".message.picked").wait_for(state="attached")
            number = (page.text_content(".said") or "").partition("correlation id ")[2]
            label = page.locator(".message.picked .name text").text_content() or ""
            assert number.startswith(label.rpartition(" ")[2] + ",")
