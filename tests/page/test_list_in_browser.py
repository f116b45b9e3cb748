"""The list in a real browser: what stands there when a filter is wrong, matches nothing, or time goes on."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

import pytest
from starlette.types import ASGIApp

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.page.api import PageContent, application
from barnabas.proxy.control.history import History
from barnabas.specs import api
from tests.page.browser import opened_at
from tests.page.pages import FAULTS, served, shown

if TYPE_CHECKING:
    from playwright.async_api import Page

MOST = 2**63 - 1
"""An offset that a number of JavaScript does not hold."""

pytestmark = pytest.mark.needs_chromium


@contextlib.asynccontextmanager
async def page_of(app: ASGIApp) -> AsyncIterator[Page]:
    async with served(app) as address, opened_at(address) as (page, said):
        await page.wait_for_selector(".rows .api")
        yield page
        refused = "Failed to load resource: the server responded with a status of 400"
        assert [line for line in said if not line.startswith(refused)] == []


def live(times: int) -> tuple[History, Callable[[], None]]:
    """What a proxy has seen, a sample's exchanges so many times, and what lets them come once more."""
    history = History(most=200_000)
    exchanges = list(open_capture(FAULTS).exchanges(inferred=True))

    def come() -> None:
        for exchange in exchanges:
            history.add(exchange)

    for _ in range(times):
        come()
    return history, come


def of_live(history: History) -> ASGIApp:
    return application(PageContent(history, {"kind": "live", "name": "", "keeps": 200_000}))


async def test_an_exchange_that_the_address_names_is_shown_when_it_comes() -> None:
    history, come = live(1)
    chosen = 5 * history.count
    source = {"kind": "capture", "name": "", "keeps": 200_000}
    app = application(PageContent(history, source))
    async with served(app) as address, opened_at(f"{address}&at={chosen}") as (page, _):
        await page.wait_for_selector(".rows .api")
        for _ in range(6):
            come()
        await page.locator(f"#x{chosen}[aria-selected=true]").wait_for()
        assert await page.locator(f"#x{chosen}").evaluate(
            "row => row.getBoundingClientRect().bottom <= row.closest('.list').getBoundingClientRect().bottom"
        )


async def test_a_filter_that_is_wrong_says_why_and_the_list_stays() -> None:
    async with page_of(shown()[1]) as page:
        await page.get_by_text("53 of 53").wait_for()
        before = await page.locator(".rows .api").count()
        await page.locator("#filter").fill("latency_ms > 'x'")
        await page.get_by_text("is neither more nor less than a number").wait_for()
        assert await page.locator(".rows .api").count() == before
        await page.locator("#filter").fill("api == 'Produce'")
        await page.get_by_text("7 of 53").wait_for()
        assert await page.locator("output.refused").count() == 0


async def test_a_filter_that_matches_nothing_says_so_and_how_to_see_all() -> None:
    async with page_of(shown()[1]) as page:
        await page.locator("#filter").fill("api == 'None'")
        await page.get_by_text("No exchange matches the filter.").wait_for()
        await page.get_by_role("button", name="Show all").click()
        await page.get_by_text("53 of 53").wait_for()
        assert await page.locator("#filter").input_value() == ""


async def test_an_integer_of_64_bits_is_shown_whole() -> None:
    codec = api(0).response.codec(9)

    def offset(exchange: Exchange) -> None:
        if exchange.key == 0:
            partition = {"index": 0, "error_code": 0, "base_offset": MOST}
            exchange.version = 9
            exchange.response_body = codec.encode(
                {"responses": [{"name": "t", "partition_responses": [partition]}]}
            )

    async with page_of(shown(change=offset)[1]) as page:
        await page.locator("#filter").fill("api == 'Produce'")
        await page.get_by_text("7 of 53").wait_for()
        await page.locator(".rows .row").first.click()
        await page.locator("article").get_by_text(str(MOST)).first.wait_for()


async def test_a_live_list_stays_at_its_end_until_somebody_looks_at_what_was() -> None:
    history, come = live(10)
    at_end = "list => list.scrollHeight - list.clientHeight - list.scrollTop < 30"
    async with page_of(of_live(history)) as page:
        rows = page.locator(".list")
        await page.wait_for_selector(f"#x{history.count - 1}")
        come()
        last = page.locator(f"#x{history.count - 1}")
        await last.wait_for()
        assert await rows.evaluate(at_end)
        await rows.hover()
        await page.mouse.wheel(0, -2000)
        await page.get_by_role("button", name="Follow the newest", pressed=False).wait_for()
        await last.wait_for(state="hidden")
        come()
        await page.get_by_text(f"{history.count:,} exchanges").first.wait_for()
        assert not await rows.evaluate(at_end)
        await page.get_by_role("button", name="Follow the newest").click()
        await page.wait_for_selector(f"#x{history.count - 1}")


async def test_what_is_in_sight_stays_there_when_older_exchanges_fall_out() -> None:
    history = History(most=530)
    exchanges = list(open_capture(FAULTS).exchanges(inferred=True))
    for exchange in 10 * exchanges:
        history.add(exchange)
    y = "row => row.getBoundingClientRect().y"
    async with page_of(of_live(history)) as page:
        await page.wait_for_selector("#x529")
        await page.locator(".list").evaluate("list => { list.scrollTop = 22 * 200; }")
        await page.locator("#x201 .api").wait_for()
        before = await page.locator("#x201").evaluate(y)
        for exchange in exchanges:
            history.add(exchange)
        await page.get_by_text("53 earlier ones fell out").wait_for()
        assert await page.locator("#x201").evaluate(y) == before


async def test_the_list_has_its_rows_when_one_comes_back_from_another_view() -> None:
    history, _ = live(10)
    async with page_of(of_live(history)) as page:
        await page.locator(".list").hover()
        await page.mouse.wheel(0, -4000)
        await page.get_by_role("button", name="Follow the newest", pressed=False).wait_for()
        seen = await page.locator(".list").evaluate("list => list.scrollTop")
        await page.get_by_role("button", name="Topics", exact=True).click()
        await page.locator(".list").wait_for(state="detached")
        await page.get_by_role("button", name="Exchanges", exact=True).click()
        await page.locator(f"#x{int(seen) // 22 + 3} .api").wait_for()
        assert await page.locator(".list").evaluate("list => list.scrollTop") == seen
        await page.get_by_role("button", name="Topics", exact=True).click()
        await page.locator(".list").wait_for(state="detached")
        await page.evaluate("location.hash = `#filter=api == 'Produce'`")
        await page.get_by_text("70 of 530").wait_for()
        await page.locator(".rows .api").first.wait_for()


@pytest.mark.parametrize("says_so", [True, False])
async def test_that_the_proxy_has_stopped_is_said_in_each_view(says_so: bool) -> None:
    history, _ = live(1)
    app = of_live(history)
    async with contextlib.AsyncExitStack() as server:
        address = await server.enter_async_context(served(app))
        async with opened_at(address) as (page, _):
            await page.wait_for_selector(".rows .api")
            if says_so:
                history.close()
            else:
                await server.aclose()
            stopped = page.locator("#state").get_by_text("barnabas has stopped")
            await stopped.wait_for()
            await page.get_by_role("button", name="Rules", exact=True).click()
            await page.get_by_role("button", name="Exchanges", exact=True).click()
            await page.wait_for_selector(".list")
            assert await stopped.count() == 1


async def test_what_is_copied_is_said_and_the_detail_is_closed_by_the_mouse() -> None:
    async with page_of(shown()[1]) as page:
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await page.locator(".rows .row").first.click()
        await page.locator("article").wait_for()
        await page.keyboard.press("y")
        await page.locator("#state").get_by_text("copied").wait_for()
        assert "ApiVersions v3" in await page.evaluate("navigator.clipboard.readText()")
        await page.locator("#state").get_by_text("copied").wait_for(state="hidden")
        await page.keyboard.press("Y")
        await page.locator("#state").get_by_text("copied").wait_for()
        text = await page.evaluate("navigator.clipboard.readText()")
        assert json.loads(text)["request"]["client_software_name"]
        await page.get_by_role("button", name="Close").click()
        await page.locator("aside").wait_for(state="detached")
