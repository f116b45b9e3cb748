"""Latencies by API, client and broker; a cell of the heat map and a row lead to their exchanges."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.latency_view import MOST, SHOWN, LatencyView
from barnabas.captures.summary.summary import OTHERS
from tests.page.browser import opened_at
from tests.page.pages import FAULTS, Caller, called, complete, served, shown

CELLS = """async ([cells, width, column]) => {
  const {filterOf} = await import("/page/heat_map.js");
  return cells.map(cell => filterOf(cell, width, column));
}"""
PICTURE = "document.querySelector('figure canvas').toDataURL()"


def exchange(client: str, ms: float | None = 2.0) -> Exchange:
    return Exchange(0, 1, "", client, 4, 3, 0, 0, 12, 8, latency_ms=ms, broker_ms=1.0)


def test_rows_beyond_the_bounds_share_one_and_none_is_lost() -> None:
    view = LatencyView(Context())
    for number in range(MOST + 500):
        view.add(exchange(f"c{number}"))
    for _ in range(3):
        view.add(exchange("c7"))
    view.add(exchange("c8", None))
    made = view.rows()["client"]["tables"]
    assert len(made["client"]) == SHOWN + 1
    assert [row["name"] for row in made["client"][:2]] == ["c7", "c8"]
    assert made["client"][-1]["name"] == OTHERS
    for table in made.values():
        assert sum(row["count"] for row in table) == MOST + 504
    assert [row["name"] for row in made["broker"]] == ["4"]


def numbers(call: Caller, filter: str) -> int:
    answer = call(f"/v1/exchanges/follow?filter={quote(filter)}")
    assert answer.status == 200, (filter, answer.body)
    runs = [run for line in answer.body.splitlines() for run in json.loads(line)["runs"]]
    return sum(last - first + 1 for first, last in runs)


@pytest.mark.needs_chromium
async def test_the_filter_of_each_cell_finds_as_many_exchanges_as_it_has() -> None:
    _, app = shown(FAULTS)
    with called(shown) as call:
        found = complete(lambda: call("/v1/latency").body)
        async with served(app) as address, opened_at(address) as (page, said):
            for side, column in (("client", "latency_ms"), ("broker", "broker_ms")):
                heat = found[side]["heat"]
                cells, width = heat["cells"], heat["width_ms"]
                filters = await page.evaluate(CELLS, [cells, width, column])
                assert [numbers(call, each) for each in filters] == [cell[2] for cell in cells]
                assert len(cells) > 5
            assert said == []


@pytest.mark.needs_chromium
async def test_a_cell_and_a_row_lead_to_their_exchanges_and_colours_follow() -> None:
    _, app = shown(FAULTS)
    async with served(app) as address, opened_at(address, view="latency") as (page, said):
        over = page.locator(".heat .u-over")
        await over.wait_for()
        light = await page.evaluate(PICTURE)
        await page.emulate_media(color_scheme="dark")
        while await page.evaluate(PICTURE) == light:  # the system's
            await page.wait_for_timeout(50)
        await page.locator(".scheme [value=light]").check(force=True)
        while await page.evaluate(PICTURE) != light:
            await page.wait_for_timeout(50)
        await page.get_by_role("button", name="by broker").click()
        await page.get_by_role("region", name="Percentiles").get_by_role("button").first.click()
        await page.get_by_text(" of 53").wait_for()
        assert "broker" in await page.input_value("#filter")
        await page.go_back()
        await page.get_by_role("button", name="by client").click()
        box = await over.bounding_box()
        assert box
        for step in range(1000):  # until a cell is below the mouse
            x, y = box["x"] + 1 + step * 7 % box["width"], box["y"] + step % 40 * box["height"] / 40
            await page.mouse.move(x, y)
            if await over.evaluate("over => over.style.cursor === 'pointer'"):
                break
        await page.mouse.click(x, y)
        await page.wait_for_selector("main.exchanges .rows .api")
        assert "ts >= '" in await page.input_value("#filter")
        assert said == []
