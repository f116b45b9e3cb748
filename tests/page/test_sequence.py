"""The sequence in a real browser: a delay, a hold, an answer of the proxy and a cut are seen, by keys."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.loop import run
from barnabas.page.api import is_file
from barnabas.proxy.control.serving import serve
from tests.page.pages import shown

CLIENT = "<img src=x onerror=alert(1)>\u202e"
MOVED = "old => document.querySelector('.mark text').textContent != old"
ON_A_SLOPE = """() => {
  const line = document.querySelector(".message.response.late .inside"), on = line.getScreenCTM();
  const {x, y} = line.getPointAtLength(line.getTotalLength() * .75);
  return [x * on.a + on.e, y * on.d + on.f];
}"""
SHOWN = "<img src=x onerror=alert(1)>\\u202e"


def named(exchange: Exchange) -> None:
    exchange.client_id = CLIENT if exchange.client_id == "writer" else exchange.client_id


@pytest.mark.needs_chromium
@pytest.mark.parametrize(("scheme", "width"), [("light", 1600), ("dark", 400)])
def test_what_rules_did_is_seen_and_reached_by_keys(scheme: str, width: int) -> None:
    playwright = pytest.importorskip("playwright.async_api")

    async def main() -> None:
        history, app = shown(Path("captures/samples/faults.pcapng"), named)
        serving = await serve(app, ("127.0.0.1", 0), "secret", is_file)
        async with playwright.async_playwright() as driver:
            browser = await driver.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox"]
            )
            page = await browser.new_page(
                viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            said: list[str] = []
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda problem: said.append(str(problem)))
            page.on("dialog", lambda dialog: said.append(dialog.message))
            await page.goto(f"http://127.0.0.1:{serving.address[1]}/#token=secret&view=sequence")
            await page.wait_for_selector(".message.late", state="attached")

            assert await lasts(page, ".message.response.late") > 5  # Produce: a delay
            assert await lasts(page, ".message.request.late") > 5  # OffsetCommit: a hold
            assert await page.locator(".message.request.lost").count() == 1  # answered by the proxy
            assert await page.locator(".message.response.lost").count() == 1  # cut
            names = await page.locator(".lane.clients title").all_text_contents()
            assert set(names) == {SHOWN, "reader"}

            # a message by keys, with what belongs to it
            while (await page.text_content(".said") or "").find("OffsetCommit v") < 0:
                await page.keyboard.press("k")
                await page.wait_for_selector(".message.picked", state="attached")
            assert "response" in (await page.text_content(".said") or "")
            assert await page.locator(".message.request.late.mate").count() == 1
            assert await page.locator(".joins").count() == 1
            marks = await times(page)
            await page.keyboard.press("z")
            await page.wait_for_function(MOVED, arg=marks[0])
            assert await page.locator(".message.request.late.mate").count() == 1
            closer = await times(page)
            await page.keyboard.press("-")
            await page.wait_for_function(MOVED, arg=closer[0])

            await page.keyboard.press("Enter")
            await page.get_by_role("heading", name="OffsetCommit").wait_for()
            await page.keyboard.press("Escape")
            await page.wait_for_selector("aside", state="detached")

            # by the mouse: a drag moves, a click opens
            await page.keyboard.press("0")
            before = await page.locator(".mark text").first.text_content()
            await page.mouse.move(width / 2, 400)
            await page.mouse.down()
            await page.mouse.move(width / 2, 300, steps=4)
            await page.mouse.up()
            await page.wait_for_function(MOVED, arg=before)
            await page.wait_for_selector("aside", state="detached")
            await page.mouse.click(*await page.evaluate(ON_A_SLOPE))
            await page.get_by_role("heading", name="Produce").wait_for()
            await page.keyboard.press("Escape")

            # all as text
            await page.keyboard.press("0")
            await page.keyboard.press("t")
            await page.locator("tbody tr").nth(history.count).wait_for()
            rows = page.locator("tbody tr")
            await rows.get_by_text("made by the proxy").wait_for()
            assert await rows.get_by_text(SHOWN, exact=True).count() > 0
            assert said == []
            await browser.close()
        await asyncio.wait_for(serving.stop(), 5)

    run(main())


async def lasts(page: Any, kind: str) -> float:
    """Pixels of time that a message takes inside of the proxy."""
    box = await page.locator(f"{kind} .inside").first.bounding_box()
    return float(box["height"])


async def times(page: Any) -> list[str]:
    """What stands at the axis."""
    found: list[str] = await page.locator(".mark text").all_text_contents()
    return found


@pytest.mark.needs_chromium
def test_in_a_capture_of_one_side_the_other_one_is_dashes() -> None:
    playwright = pytest.importorskip("playwright.async_api")

    async def main() -> None:
        _, app = shown(Path("captures/samples/wrong.pcap"))
        serving = await serve(app, ("127.0.0.1", 0), "secret", is_file)
        async with playwright.async_playwright() as driver:
            browser = await driver.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox"]
            )
            page = await browser.new_page()
            await page.goto(f"http://127.0.0.1:{serving.address[1]}/#token=secret&view=sequence")
            await page.get_by_text("captured here").wait_for()
            messages = await page.locator(".message").count()
            assert messages == await page.locator(".message.unknown").count() > 0
            await browser.close()
        await asyncio.wait_for(serving.stop(), 5)

    run(main())
