"""Exchanges are taken away in a real browser: picked by keys, and as a file that is what was asked for."""

from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from tests.page.browser import LOOKS, opened_at
from tests.page.pages import served, shown


@pytest.mark.needs_chromium
@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_by_keys_alone_from_a_pick_to_a_file(scheme: str, width: int) -> None:
    _, app = shown()
    async with served(app) as address, opened_at(address, scheme, width) as (page, said):
        await page.wait_for_selector(".rows .api")
        for key in "jxjx":
            await page.keyboard.press(key)
        times = page.locator(".picked .time")
        await times.nth(1).wait_for()
        assert await times.evaluate_all("all => all.every(e => e.scrollWidth <= e.clientWidth)")
        await page.get_by_text("Take away 2").focus()
        await page.keyboard.press("Enter")
        await page.get_by_text("2 picked").wait_for()
        for _ in range(3):  # past "unpick" to the second form
            await page.keyboard.press("Tab")
        async with page.expect_download() as waiting:
            await page.keyboard.press("Enter")
        download = await waiting.value
        assert download.suggested_filename == "exchanges.jsonl"
        assert (await download.path()).read_text().count("\n") == 2
        await page.get_by_text("exchanges.jsonl: 2 exchanges").wait_for()
        await page.get_by_role("button", name="unpick").click()
        await page.get_by_text("53 in all").wait_for()
        async with page.expect_download() as waiting:
            await page.get_by_role("button", name="Scenario").click()
        download = await waiting.value
        assert len(loads((await download.path()).read_text()).rules) == 4
        box = await page.locator(".take .menu").bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        await page.keyboard.press("Escape")
        assert await page.locator(".take .menu").is_hidden()
        assert said == []
