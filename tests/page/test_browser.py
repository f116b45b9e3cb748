"""The page in a real browser, over a capture whose client ids are markup."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.page.browser import LOOKS, opened_at
from tests.page.pages import served, shown

pytestmark = pytest.mark.needs_chromium


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_by_keys_alone_from_the_filter_to_a_fields_bytes(scheme: str, width: int) -> None:
    def markup(exchange: Exchange) -> None:
        exchange.client_id = "<img src=x onerror=alert(1)>\u202e\u061c\x1b\U000e0041\ud800"

    _, app = shown(change=markup)
    async with served(app) as address, opened_at(address, scheme, width) as (page, said):
        await page.wait_for_selector(".rows .api")
        assert "secret" not in page.url
        icon = await page.locator(".brand use").bounding_box()
        assert icon
        assert icon["width"] > 0, "it is a part of a file of its own"
        await page.keyboard.press("f")
        await page.keyboard.type("api == 'Produce'")
        await page.get_by_text("7 of 53").wait_for()
        await page.keyboard.press("Escape")
        await page.wait_for_selector("#names", state="hidden")
        await page.keyboard.press("Escape")
        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("article")
        assert "filter=" in page.url
        assert "at=" in page.url
        client = await page.text_content(".rows .client")
        assert client == "<img src=x onerror=alert(1)>\\u202e\\u061c\\u001b\\ue0041\\ud800"
        await page.locator("li:not(:has(ul)) .key").nth(3).hover()
        await page.locator(".hex .lit").first.wait_for()
        pane = await page.locator("aside").bounding_box()
        covered = await page.locator(".hex").first.bounding_box()
        assert pane
        assert covered
        assert covered["height"] < pane["height"] / 2
        await page.keyboard.press("Escape")
        await page.wait_for_selector("aside", state="detached")
        assert said == []


async def test_only_the_bytes_of_the_field_are_lit_when_lines_get_shorter() -> None:
    _, app = shown()
    async with served(app) as address, opened_at(address, width=1100) as (page, said):
        await page.locator(".row", has_text="Produce").first.click()
        lines = page.locator(".hex").first.locator("i")
        await lines.filter(has_text="0010").wait_for()
        index = page.locator("li[data-at$=index]").first
        path = await index.get_attribute("data-at")
        await index.hover()
        await page.set_viewport_size({"width": 1000, "height": 900})
        await lines.filter(has_text="0008").wait_for()
        lit = await page.locator(".hex .lit").evaluate_all("all => all.map(b => b.dataset.at)")
        assert set(lit) <= {path}
        await index.locator(".key").click()
        await page.locator(".hex .lit").first.wait_for()
        await page.set_viewport_size({"width": 1100, "height": 900})
        await lines.filter(has_text="0008").wait_for(state="detached")
        lit = await page.locator(".hex .lit").evaluate_all("all => all.map(b => b.dataset.at)")
        assert set(lit) == {path}
        assert said == []
