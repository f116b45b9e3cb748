"""Columns are chosen, made wider and sorted by, and a cell filters; the browser remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.page.browser import opened_at
from tests.page.pages import served, shown

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

pytestmark = pytest.mark.needs_chromium


async def column(page: Page, name: str) -> list[str]:
    return await page.locator(f".rows .{name}").all_inner_texts()


async def width_of(element: Locator) -> float:
    box = await element.bounding_box()
    assert box
    return box["width"]


async def test_columns_that_are_chosen_and_widened_are_remembered() -> None:
    _, app = shown()
    async with served(app) as address, opened_at(address) as (page, said):
        heads = page.locator(".row.head")
        await page.wait_for_selector(".rows .api")
        assert await heads.locator(".size").count() == 1
        assert await heads.locator(".correlation").count() == 0
        await page.get_by_text("Columns", exact=True).click()
        await page.get_by_role("checkbox", name="size").uncheck()
        await page.get_by_role("checkbox", name="correlation").check()
        await page.get_by_text("Columns", exact=True).click()
        grip = await heads.locator(".client .grip").bounding_box()
        width = await width_of(heads.locator(".client"))
        assert grip
        await page.mouse.move(grip["x"] + 2, grip["y"] + 5)
        await page.mouse.down()
        await page.mouse.move(grip["x"] + 62, grip["y"] + 5)
        await page.mouse.up()
        await page.reload()
        await page.wait_for_selector(".rows .api")
        assert await heads.locator(".size").count() == 0
        assert await heads.locator(".correlation").count() == 1
        wider = await width_of(heads.locator(".client"))
        assert wider - width == pytest.approx(60, abs=2)
        assert said == []


async def test_the_list_is_sorted_by_a_column_and_comes_back() -> None:
    _, app = shown()
    async with served(app) as address, opened_at(address) as (page, _):
        await page.wait_for_selector(".rows .api")
        before = await column(page, "time")
        head = page.locator(".row.head .ms button")
        await head.click()
        await page.wait_for_selector(".row.head [aria-sort=descending]")
        await page.locator(".rows .ms").nth(11).wait_for()
        slowest = [float(text) for text in await column(page, "ms") if text]
        assert len(slowest) > 10
        assert slowest == sorted(slowest, reverse=True)
        await head.click()
        await page.wait_for_selector(".row.head [aria-sort=ascending]")
        quickest = [float(text) for text in await column(page, "ms") if text]
        assert quickest == sorted(quickest)
        await head.click()
        await page.wait_for_selector(".row.head [aria-sort]", state="detached")
        await page.locator("#x0 .time", has_text=before[0]).wait_for()
        assert await column(page, "time") == before


async def test_a_cell_filters_by_what_it_shows_and_by_all_else() -> None:
    _, app = shown()
    async with served(app) as address, opened_at(address) as (page, _):
        await page.wait_for_selector(".rows .api")
        await page.locator(".rows .api", has_text="Produce").first.hover()
        await page.get_by_role("button", name="Only these: api").click()
        await page.get_by_text("7 of 53").wait_for()
        await page.locator(".rows .conn").first.hover()
        await page.get_by_role("button", name="All others: connection").click()
        await page.get_by_text("3 of 53").wait_for()
        assert (
            await page.locator("#filter").input_value() == "api == 'Produce' && connection != `2`"
        )
        assert {text[0] for text in await column(page, "conn")} == {"3"}


@pytest.mark.parametrize(
    ("typed", "joined"), [("rules", "rules && api == 'Produce'"), ("orders", "api == 'Produce'")]
)
async def test_a_cell_narrows_a_condition_and_replaces_plain_text(typed: str, joined: str) -> None:
    _, app = shown()
    async with served(app) as address, opened_at(f"{address}&filter={typed}") as (page, _):
        await page.locator(".rows .api", has_text="Produce").first.hover()
        await page.get_by_role("button", name="Only these: api").click()
        await page.wait_for_function(f'document.querySelector("#filter").value === "{joined}"')


async def test_plain_text_finds_what_grep_would() -> None:
    _, app = shown()
    async with served(app) as address, opened_at(address) as (page, said):
        await page.locator("#filter").fill("not_enough")
        await page.get_by_text("1 of 53").wait_for()
        assert await page.locator(".rows .row").count() == 1
        assert said == []


async def test_a_value_that_is_compared_is_completed() -> None:
    _, app = shown()
    async with served(app) as address, opened_at(address) as (page, said):
        await page.wait_for_selector(".rows .api")
        await page.locator("#filter").press_sequentially("api == 'heart")
        await page.locator("#names", has_text="Heartbeat").wait_for()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        assert await page.locator("#filter").input_value() == "api == 'Heartbeat'"
        await page.locator(".rows .row", has_text="Heartbeat").first.wait_for()
        assert [line for line in said if "400 (Bad Request)" not in line] == []


async def test_a_sorted_list_that_is_not_frozen_any_more_comes_back_as_it_was() -> None:
    _, app = shown()
    async with served(app) as address, opened_at(address) as (page, said):
        await page.wait_for_selector(".rows .api")
        before = await column(page, "time")
        for leave in ("p", "filter"):
            await page.locator(".row.head .ms button").click()
            await page.wait_for_selector(".row.head [aria-sort=descending]")
            await page.locator(".list").focus()
            if leave == "p":
                await page.keyboard.press("p")
            else:
                await page.locator("#filter").fill("api == 'Produce'")
                await page.get_by_text("7 of 53").wait_for()
                await page.locator("#filter").fill("")
            await page.wait_for_selector(".row.head [aria-sort]", state="detached")
            await page.locator("#x0 .time", has_text=before[0]).wait_for()
        assert "stopped" not in await page.locator("#state").inner_text()
        assert said == []


async def test_escape_and_a_click_elsewhere_close_a_menu() -> None:
    _, app = shown()
    async with served(app) as address, opened_at(address) as (page, _):
        await page.wait_for_selector(".rows .api")
        menu = page.get_by_role("group", name="Columns")
        for close in ("Escape", "click"):
            await page.get_by_text("Columns", exact=True).click()
            await menu.wait_for()
            if close == "Escape":
                await page.keyboard.press("Escape")
            else:
                await page.locator("#source").click()
            await menu.wait_for(state="hidden")
