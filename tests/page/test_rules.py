"""Rules on the page: written, tried and applied by keys, with their effect on a real client."""

from __future__ import annotations

import re

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Page, expect

from tests.page.browser import LOOKS, axe, page_at
from tests.page.test_live import proxied

pytestmark = [pytest.mark.needs_chromium, pytest.mark.timeout(180)]


def produce(listen: str, value: bytes = b"1", wait: float = 20) -> str:
    """What a client makes of one record: its error, "" if it is stored."""
    said = []
    about = {"client.id": "writer", "log_level": 0, "message.send.max.retries": 0}
    writer = Producer({"bootstrap.servers": listen, **about})
    writer.produce("orders", value, on_delivery=lambda error, _: said.append(error))
    writer.flush(wait)
    return "".join(each.name() for each in said if each)


def editor(page: Page) -> None:
    page.get_by_role("button", name="Rules", exact=True).click()
    page.wait_for_selector(".editor textarea")
    page.locator(".editor textarea").focus()


def like_a_produce(page: Page, listen: str) -> None:
    """Ask for a rule about messages like a Produce that has just passed."""
    assert produce(listen) == ""
    page.locator(".row:has-text('Produce')").first.click()
    page.locator("article button:has-text('Messages like this')").click()


def test_a_rule_is_completed_checked_tried_and_applied_by_keys() -> None:
    with proxied() as ready, page_at(ready["page"]) as page:
        assert produce(ready["listen"]) == ""
        editor(page)
        page.keyboard.press("Control+A")
        page.keyboard.type("version: 1\nru")
        page.keyboard.press("Tab")
        assert page.locator(".editor textarea").input_value() == "version: 1\nrules:\n- name: "
        page.keyboard.type("refused\n  mat")
        page.keyboard.press("ArrowDown")
        selected = page.locator("[role=option][aria-selected=true]")
        assert selected.inner_text().startswith("match")
        active = page.locator(".editor textarea").get_attribute("aria-activedescendant")
        assert selected.get_attribute("id") == active
        page.keyboard.press("Enter")
        page.keyboard.type("api: Prod")
        page.keyboard.press("Tab")
        page.keyboard.type(", dir")
        page.keyboard.press("Tab")
        page.keyboard.type("req")
        page.keyboard.press("Tab")
        page.keyboard.press("End")
        page.keyboard.type("\n  do: {respnd: {error: 29}}")
        page.locator(".gutter .wrong").wait_for()
        assert page.locator(".gutter .wrong").all_inner_texts() == ["5"]
        assert "did you mean 'respond'" in page.locator(".faults li").inner_text()
        assert page.get_by_role("button", name="Apply").is_disabled()
        for _ in range(len("nd: {error: 29}}")):
            page.keyboard.press("ArrowLeft")
        page.keyboard.type("o")
        page.locator("td:has-text('matches 1, fires on 1')").wait_for()
        assert page.locator(".gutter .wrong").count() == 0
        assert page.locator(".editor textarea").input_value() == (
            "version: 1\nrules:\n- name: refused\n  match: {api: Produce, direction: request}\n"
            "  do: {respond: {error: 29}}"
        )
        assert produce(ready["listen"]) == ""  # nothing is applied yet
        page.get_by_role("button", name="Apply").click()
        page.get_by_text("It holds now").wait_for()
        assert produce(ready["listen"]) == "TOPIC_AUTHORIZATION_FAILED"
        page.locator("tr:has-text('refused') td.number:has-text('1')").first.wait_for()
        page.get_by_role("button", name="Remove: refused").click()
        page.get_by_text("There are no rules.").wait_for()
        assert produce(ready["listen"]) == ""


def test_what_would_have_fired_is_marked_in_the_list() -> None:
    with proxied() as ready, page_at(ready["page"]) as page:
        for _ in range(3):
            assert produce(ready["listen"]) == ""
        editor(page)
        page.keyboard.press("Control+A")
        page.keyboard.type(
            "version: 1\nrules: [{name: r, match: {api: Produce, direction: request}, do: close"
        )
        page.keyboard.press("Escape")
        page.keyboard.type("}]")
        page.get_by_role("button", name="Show in the list: r").click()
        page.locator(".row.marked").nth(2).wait_for()
        assert page.locator(".row.marked:has-text('Produce')").count() == 3
        assert page.locator(".row.marked").count() == 3
        page.locator(".list").focus()
        page.keyboard.press("n")
        chosen = page.locator(".row[aria-selected=true]")
        assert "Produce" in chosen.inner_text()
        page.locator("#filter").fill("api == 'Metadata'")
        page.get_by_text("what is marked: 3, 0 of them in this list").wait_for()
        page.get_by_role("button", name="Clear").click()
        page.locator(".row.marked").first.wait_for(state="detached")


def test_a_rule_about_messages_like_one_by_keys() -> None:
    with proxied() as ready, page_at(ready["page"]) as page:
        assert produce(ready["listen"]) == ""
        page.locator(".row:has-text('Produce')").first.click()
        page.wait_for_selector("article")
        page.locator(".list").focus()
        page.keyboard.press("m")
        page.wait_for_selector("dialog[open]")
        page.locator("dialog select").first.select_option("respond")
        rule = page.locator("dialog textarea")
        expect(rule).to_have_value(re.compile("NOT_LEADER_OR_FOLLOWER"))
        page.locator("dialog input:not([type])").fill("{error: TOPIC_AUTHORIZATION_FAILED}")
        page.keyboard.press("Enter")
        page.get_by_role("checkbox", name="client_id writer").uncheck()
        expect(rule).to_have_value(re.compile("^(?!.*client_id)(?=.*TOPIC_AUTHORIZATION)", re.S))
        page.get_by_text("matches 1, fires on 1").wait_for()
        page.get_by_role("button", name="Add the rule").click()
        page.wait_for_selector("main.rules tr:has-text('respond Produce of writer')")
        assert produce(ready["listen"]) == "TOPIC_AUTHORIZATION_FAILED"


def test_a_rule_that_was_added_elsewhere_can_be_undone() -> None:
    with proxied() as ready, page_at(ready["page"]) as page:
        editor(page)
        area = page.locator(".editor textarea")
        before = area.input_value()
        page.get_by_role("button", name="Exchanges", exact=True).click()
        like_a_produce(page, ready["listen"])
        page.get_by_role("button", name="Take it to the editor").click()
        expect(area).not_to_have_value(before)
        added = area.input_value()
        assert added.startswith(before.rstrip().removesuffix("[]").rstrip())
        area.focus()
        page.keyboard.press("Control+z")
        expect(area).to_have_value(before)
        page.keyboard.press("Control+y")
        expect(area).to_have_value(added)


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_nothing_shuts_anyone_out(scheme: str, width: int) -> None:
    with proxied() as ready, page_at(ready["page"], scheme, width) as page:
        like_a_produce(page, ready["listen"])
        page.wait_for_selector("dialog[open] textarea")
        page.get_by_text("matches 1, fires on 1").wait_for()
        assert axe(page) == []
        page.get_by_role("button", name="Take it to the editor").click()
        page.locator("td:has-text('matches 1, fires on 1')").wait_for()
        page.locator(".editor textarea").focus()
        page.keyboard.press("Control+End")
        page.keyboard.type("\n- name: x\n  do: {del")
        page.wait_for_selector("[role=option]")
        assert axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
