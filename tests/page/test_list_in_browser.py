"""The list in a real browser: what stands there when a filter is wrong, matches nothing, or time goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.loop import run
from barnabas.page.api import application, is_file
from barnabas.page.forms import of_capture
from barnabas.page.recorded import Recorded
from barnabas.proxy.control.history import History
from barnabas.proxy.control.serving import serve
from barnabas.specs import api
from tests.page.pages import shown

if TYPE_CHECKING:
    from playwright.async_api import Page

SAMPLE = Path("captures/samples/faults.pcapng")
MOST = 2**63 - 1
"""An offset that a number of JavaScript does not hold."""

pytestmark = pytest.mark.needs_chromium


@contextlib.asynccontextmanager
async def page_of(
    history: History | None = None, change: Callable[[Exchange], None] = lambda _: None
) -> AsyncIterator[Page]:
    """The page over the sample, or over what a proxy adds to a history."""
    playwright = pytest.importorskip("playwright.async_api")
    if history is None:
        _, app = shown(SAMPLE, change)
    else:
        capture = open_capture(SAMPLE)
        app = application(
            history,
            capture.context.topics,
            {"kind": "live", "name": "", "keeps": 200_000},
            Recorded(history, capture.context.topics, None).routes,
            origin=of_capture(capture, lambda: open_capture(SAMPLE)),
        )
    serving = await serve(app, ("127.0.0.1", 0), "secret", is_file)
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = await browser.new_page(viewport={"width": 1400, "height": 700})
        failed: list[str] = []
        page.on("pageerror", lambda problem: failed.append(str(problem)))
        page.set_default_timeout(15_000)
        await page.goto(f"http://127.0.0.1:{serving.address[1]}/#token=secret")
        await page.wait_for_selector(".row .api")
        yield page
        assert failed == []
        await browser.close()
    await asyncio.wait_for(serving.stop(), 5)


def test_a_filter_that_is_wrong_says_why_and_the_list_stays() -> None:
    async def main() -> None:
        async with page_of() as page:
            before = await page.locator(".row .api").count()
            await page.locator("#filter").fill("latency_ms > 'x'")
            await page.get_by_text("only numbers are more or less than others").wait_for()
            assert await page.locator(".row .api").count() == before
            await page.locator("#filter").fill("api == 'Produce'")
            await page.get_by_text("7 of 53").wait_for()
            assert await page.locator("output.refused").count() == 0

    run(main())


def test_a_filter_that_matches_nothing_says_so_and_how_to_see_all() -> None:
    async def main() -> None:
        async with page_of() as page:
            await page.locator("#filter").fill("api == 'None'")
            await page.get_by_text("No exchange matches the filter.").wait_for()
            await page.get_by_role("button", name="Show all").click()
            await page.wait_for_selector(".row .api")
            assert await page.locator("#filter").input_value() == ""

    run(main())


def test_back_goes_to_the_view_and_the_filter_before() -> None:
    async def main() -> None:
        async with page_of() as page:
            await page.locator("#filter").fill("api == 'Produce'")
            await page.get_by_text("7 of 53").wait_for()
            await page.get_by_role("button", name="Topics").click()
            await page.get_by_role("columnheader", name="topic").first.wait_for()
            await page.go_back()
            await page.get_by_text("7 of 53").wait_for()
            assert await page.locator("#filter").input_value() == "api == 'Produce'"

    run(main())


def test_an_integer_of_64_bits_is_shown_whole() -> None:
    codec = api(0).response.codec(9)

    def offset(exchange: Exchange) -> None:
        if exchange.key == 0:
            partition = {"index": 0, "error_code": 0, "base_offset": MOST}
            exchange.version = 9
            exchange.response_body = codec.encode(
                {"responses": [{"name": "t", "partition_responses": [partition]}]}
            )

    async def main() -> None:
        async with page_of(change=offset) as page:
            await page.locator("#filter").fill("api == 'Produce'")
            await page.get_by_text("7 of 53").wait_for()
            await page.locator(".rows .row").first.click()
            await page.locator("article").get_by_text(str(MOST)).first.wait_for()

    run(main())


def test_a_live_list_stays_at_its_end_until_somebody_looks_at_what_was() -> None:
    async def main() -> None:
        exchanges = list(open_capture(SAMPLE).exchanges(inferred=True))
        history = History(most=200_000)
        for exchange in 10 * exchanges:
            history.add(exchange)
        at_end = "list => list.scrollHeight - list.clientHeight - list.scrollTop < 30"
        async with page_of(history) as page:
            rows = page.locator(".list")
            await page.wait_for_selector(f"#x{history.count - 1}")
            for exchange in exchanges:
                history.add(exchange)
            last = page.locator(f"#x{history.count - 1}")
            await last.wait_for()
            assert await rows.evaluate(at_end)
            await rows.hover()
            await page.mouse.wheel(0, -2000)
            await page.get_by_role("button", name="Follow the newest", pressed=False).wait_for()
            await last.wait_for(state="hidden")
            for exchange in exchanges:
                history.add(exchange)
            await page.get_by_text(f"{history.count:,} exchanges").first.wait_for()
            assert not await rows.evaluate(at_end)
            await page.get_by_role("button", name="Follow the newest").click()
            await page.wait_for_selector(f"#x{history.count - 1}")

    run(main())
