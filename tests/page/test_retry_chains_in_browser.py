"""Retries are folded in the list in a real browser: with filters, live, sorted, and by keys."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from barnabas.page.api import PageContent, application
from barnabas.proxy.control.history import History
from tests.captures.checks.given import produce
from tests.page.browser import axe_in_both_schemes, barnabas, opened_at, page_at
from tests.page.pages import served, shown

if TYPE_CHECKING:
    from playwright.async_api import Page

WRONG = Path("captures/samples/wrong.pcap")
"""Exchanges 6 to 18 are attempts of one Produce."""

SAME_AS_A_PLAIN_LIST = """async () => {
  const {Matches} = await import("/page/matches.js"), {Folded} = await import("/page/folded.js");
  let seed = 1;
  const random = below => (seed = seed * 48271 % 2147483647) % below;
  const different = [];
  for (let turn = 0; turn < 300; turn++) {
    const matches = new Matches(), chains = new Map(), unfolded = new Set(), listed = [], last = [];
    for (let number = 0; number < 40; number++) {
      if (random(4)) { matches.add([[number, number]]); listed.push(number); }
      if (random(3) && last.length) {
        const first = last[random(last.length)];
        chains.set(first, [...chains.get(first) ?? [first], number]);
        if (!random(3)) unfolded.add(first);
      } else last.push(number);
    }
    const plain = [], shownAt = new Map();
    for (const number of listed) {
      const chain = [...chains.entries()].find(([, numbers]) => numbers.includes(number));
      const attempts = (chain?.[1] ?? [number]).filter(each => listed.includes(each)), head = attempts.pop();
      if (head !== number) continue;
      shownAt.set(number, plain.length);
      plain.push(number);
      for (const attempt of attempts) {
        shownAt.set(attempt, unfolded.has(chain[0]) ? plain.length : shownAt.get(number));
        if (unfolded.has(chain[0])) plain.push(attempt);
      }
    }
    const folded = new Folded(matches, chains, unfolded);
    const rows = Array.from({length: folded.length}, (_, place) => folded.at(place));
    const places = listed.map(number => folded.place(number));
    if (rows.join() !== plain.join() || places.join() !== listed.map(number => shownAt.get(number)).join())
      different.push({turn, rows, plain});
  }
  return different;
}"""

pytestmark = pytest.mark.needs_chromium


@contextlib.asynccontextmanager
async def folding(app: Any) -> AsyncIterator[Page]:
    async with served(app) as address, opened_at(address) as (page, said):
        await page.wait_for_selector(".rows .api")
        await page.get_by_role("button", name="Fold retries").click()
        await page.locator(".attempts").first.wait_for()
        yield page
        assert said == []


async def rows_of(page: Page) -> list[int]:
    """The numbers of the rows, from the top."""
    found: list[int] = await page.locator(".rows .row").evaluate_all(
        "rows => rows.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map(row => Number(row.id.slice(1)))"
    )
    return found


async def test_the_last_attempt_has_a_row_and_the_earlier_ones_are_below_it() -> None:
    async with folding(shown(WRONG)[1]) as page:
        assert await rows_of(page) == [*range(6), *range(18, 39)]
        attempts = page.get_by_role("button", name="×13: earlier attempts")
        await page.locator("#x18", has=attempts).wait_for()
        assert await attempts.get_attribute("aria-expanded") == "false"
        await attempts.focus()
        await page.keyboard.press("Enter")
        await page.locator("#x6.earlier .api", has_text="Produce").wait_for()
        assert await attempts.get_attribute("aria-expanded") == "true"
        assert await rows_of(page) == [*range(6), 18, *range(6, 18), *range(19, 39)]
        assert await page.locator("aside").count() == 0
        await attempts.click()
        await page.locator("#x6").wait_for(state="detached")
        assert await page.get_by_text("39 of 39").count() == 1


async def test_the_browser_remembers_the_switch_and_without_it_each_attempt_has_a_row() -> None:
    async with folding(shown(WRONG)[1]) as page:
        await page.reload()
        await page.locator(".attempts").wait_for()
        assert await rows_of(page) == [*range(6), *range(18, 39)]
        await page.get_by_role("button", name="Fold retries", pressed=True).click()
        await page.locator("#x6").wait_for()
        assert await rows_of(page) == [*range(39)]
        assert await page.locator(".attempts").count() == 0
        await page.reload()
        await page.locator("#x6 .api").wait_for()
        await page.get_by_role("button", name="Fold retries", pressed=False).wait_for()


async def test_only_attempts_that_match_the_filter_are_folded() -> None:
    async with folding(shown(WRONG)[1]) as page:
        await page.locator("#filter").fill("connection == `3` || connection == `2`")
        await page.get_by_role("button", name="×5: earlier attempts").wait_for()
        assert await rows_of(page) == [4, 5, 10]
        await page.locator("#filter").fill("connection == `4`")
        await page.locator("#x11").wait_for()
        assert await page.locator(".attempts").count() == 0


async def test_a_sorted_list_has_each_attempt_in_its_place() -> None:
    async with folding(shown(WRONG)[1]) as page:
        head = page.locator(".row.head .ms button")
        await head.click()
        await page.wait_for_selector(".row.head [aria-sort=descending]")
        await page.locator("#x6").wait_for()
        assert await page.locator(".attempts").count() == 0
        for _ in range(2):
            await head.click()
        await page.locator(".attempts").wait_for()
        assert await rows_of(page) == [*range(6), *range(18, 39)]


async def test_arrow_keys_step_over_folded_attempts_and_unfold_them() -> None:
    async with folding(shown(WRONG)[1]) as page:
        chosen = page.locator(".row[aria-selected=true]")

        async def press(key: str, number: int) -> None:
            await page.keyboard.press(key)
            await page.locator(f"#x{number}[aria-selected=true]").wait_for()
            assert await chosen.count() == 1

        await page.locator(".list").focus()
        for number in (*range(6), 18, 19):
            await press("ArrowDown", number)
        await press("ArrowUp", 18)
        await page.keyboard.press("ArrowRight")
        await page.locator("#x6").wait_for()
        await press("ArrowDown", 6)
        await press("ArrowDown", 7)
        await press("ArrowLeft", 18)
        await page.locator("#x6").wait_for(state="detached")
        await press("ArrowUp", 5)


async def test_a_chain_grows_while_one_looks_and_what_is_in_sight_stays_there() -> None:
    history = History(most=1000)

    def attempt(error: int = 6) -> None:
        history.add(produce(10 * history.count, ["a"], error=error, client="retrying"))

    def others(count: int) -> None:
        for _ in range(count):
            history.add(produce(10 * history.count, ["b"], client="other"))

    attempt()
    others(100)
    attempt()
    others(400)
    app = application(PageContent(history, {"kind": "live", "name": "", "keeps": 1000}))
    async with served(app) as address, opened_at(address) as (page, said):
        await page.wait_for_selector("#x501 .api")
        await page.get_by_role("button", name="Fold retries").click()
        await page.locator('.list[aria-rowcount="501"]').wait_for()
        await page.locator(".list").evaluate("list => { list.scrollTop = 22 * 200; }")
        await page.locator("#x201 .api").wait_for()
        await page.get_by_role("button", name="Follow the newest", pressed=False).wait_for()
        y = "row => row.getBoundingClientRect().y"
        before = await page.locator("#x201").evaluate(y)
        attempt(error=0)
        await page.locator("#state", has_text="503 exchanges").wait_for()
        await page.locator('.list[aria-rowcount="501"]').wait_for()
        assert await page.locator("#x201").evaluate(y) == before
        await page.get_by_role("button", name="Follow the newest").click()
        await page.locator("#x502", has_text="×3").wait_for()
        others(1)
        await page.locator("#x502").click()
        attempt()
        attempt()
        await page.locator("#x505", has_text="×2").wait_for()
        await page.locator('#x502[aria-selected="true"]', has_text="×3").wait_for()
        assert said == []


async def test_the_chosen_attempt_stays_in_sight_when_it_is_repeated() -> None:
    history = History(most=1000)
    for _ in range(2):
        history.add(produce(10 * history.count, ["a"], error=6))
    app = application(PageContent(history, {"kind": "live", "name": "", "keeps": 1000}))
    async with folding(app) as page:
        await page.locator("#x1").click()
        history.add(produce(10 * history.count, ["a"], error=6))
        await page.locator("#x2", has_text="×3").wait_for()
        await page.locator("#x1.earlier[aria-selected=true]").wait_for()
        assert await rows_of(page) == [2, 0, 1]


async def test_a_folded_list_is_that_of_a_plain_computation() -> None:
    async with served(shown(WRONG)[1]) as address, opened_at(address) as (page, _):
        assert await page.evaluate(SAME_AS_A_PLAIN_LIST) == []


def test_an_address_with_a_folded_attempt_unfolds_it() -> None:
    with (
        barnabas("open", f"{WRONG}#9", "--no-browser") as ready,
        page_at(ready["page"]) as page,
    ):
        page.evaluate("localStorage.setItem('fold retries', 'true')")
        page.reload()
        page.locator("#x9.earlier[aria-selected=true]").wait_for()
        page.locator("article", has_text="#9 ·").wait_for()
        assert page.locator("#x18 .attempts").get_attribute("aria-expanded") == "true"
        assert page.get_by_role("region", name="Bytes of the").count() == 2
        assert axe_in_both_schemes(page) == []
