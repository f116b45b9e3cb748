"""The overview has the findings of `barnabas check`, and leads from each to its exchanges."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.requests import Request

from barnabas.captures.capture import open_capture
from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.finding import Check, NoSettings
from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.exchange import Exchange
from barnabas.page.overview import LiveChecks, Overview
from barnabas.page.views import FedViews
from barnabas.proxy.control.history import History
from tests.page.browser import opened_at
from tests.page.pages import FAULTS, Caller, called, complete, served, shown

WRONG = Path("captures/samples/wrong.pcap")


def overview(call: Caller) -> dict[str, Any]:
    return complete(lambda: call("/v1/overview").body)


def test_what_stands_out_is_what_check_finds() -> None:
    capture = open_capture(WRONG)
    expected = [
        (check.name, finding.row(check.name)["what"])
        for check, finding in run(capture.exchanges(), CHECKS)
    ]
    with called(lambda: shown(WRONG)) as call:
        found = overview(call)
    assert found["waiting"] == 0
    seen = [
        (each["check"], one["what"]) for each in found["stands_out"] for one in each["findings"]
    ]
    assert sorted(seen) == sorted(expected)
    assert len(seen) > 3
    severities = [each["severity"] for each in found["stands_out"]]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)


def test_figures_and_tables_are_of_all_exchanges() -> None:
    with called() as call:
        found = overview(call)
    total = found["timeline"]["total"]
    assert total["exchanges"] == found["fed"] == 53
    assert total["errors"] == 1, "the versions that a broker does not offer are no error"
    errors = [each["errors"] for each in found["tables"]["api"]]
    with called() as call:
        follow = call(f"/v1/exchanges/follow?filter={quote(found['errors_filter'])}").body
    runs = [run for line in follow.splitlines() for run in json.loads(line)["runs"]]
    assert sum(last - first + 1 for first, last in runs) == sum(errors) == total["errors"]
    apis = {row["name"]: row["count"] for row in found["tables"]["api"]}
    assert apis["Produce"] == 7
    assert [row["name"] for row in found["tables"]["topic"]] == ["orders"]


def test_a_check_that_fails_is_named_and_the_figures_stay() -> None:
    def begin(_: Any) -> Any:
        def see(*_: object) -> Any:
            raise KeyError("x")

        return see

    checks = LiveChecks((Check("own", NoSettings(), begin, "what", "all"),))
    for exchange in open_capture(FAULTS).exchanges():
        checks.add(exchange)
    assert checks.failed.startswith("check own failed at ApiVersions v3")
    assert checks.document() == []


async def test_a_slow_view_fills_in_several_answers_and_never_holds_the_loop() -> None:
    history = History()
    sample = next(open_capture(FAULTS).exchanges())
    for _ in range(10):
        history.add(sample)
    events: list[str] = []

    class Slow:
        """A view that takes longer than its turn for each exchange."""

        def add(self, exchange: Exchange) -> None:
            events.append("exchange")

    async def other_requests() -> None:
        while True:
            events.append("other request")
            await asyncio.sleep(0)

    fed = FedViews(Slow(), clock=lambda: events.count("exchange") * 0.1)
    others = asyncio.create_task(other_requests())
    answers = [await fed.fresh(history) for _ in range(4)]
    others.cancel()
    assert [each["fed"] for each in answers] == [3, 6, 9, 10], "until PATIENCE ends"
    assert [each["waiting"] for each in answers] == [7, 4, 1, 0]
    assert ("exchange", "exchange") not in pairwise(events)


async def test_checks_do_not_compare_exchanges_across_a_hole_of_the_history() -> None:
    exchanges = list(open_capture(Path("captures/samples/flapping.pcapng")).exchanges())
    history, checks = History(most=100), LiveChecks()
    fed = FedViews(checks, clock=lambda: 0.0)
    for exchange in exchanges[:16]:
        history.add(exchange)
    await fed.fresh(history)
    for exchange in exchanges[16:127]:
        history.add(exchange)
    assert (await fed.fresh(history))["missed"] == 11
    assert [each for each in checks.document() if each["severity"] == "error"] == []
    assert {exchange.losses for _, exchange in history.kept()} == {0}


def test_what_is_found_at_the_end_comes_once() -> None:
    history = History()
    for exchange in open_capture(WRONG).exchanges():
        history.add(exchange)
    history.close()
    view = Overview(history, live=False)
    request = Request({"type": "http", "query_string": b"", "headers": []})
    first, second = (
        complete(lambda: bytes(asyncio.run(view.overview(request)).body)) for _ in range(2)
    )
    assert first["stands_out"] == second["stands_out"]


@pytest.mark.needs_chromium
async def test_a_finding_leads_to_its_exchanges() -> None:
    _, app = shown(WRONG)
    async with served(app) as address, opened_at(address, view="overview") as (page, said):
        stands_out = page.locator("section", has_text="What stands out").first
        await stands_out.get_by_text("ListTransactions v2 was sent").click()
        await page.locator(".rows .row", has_text="ListTransactions v2").first.wait_for()
        assert await page.locator(".rows .row").count() <= 2
        assert "view=exchanges" in page.url
        await page.go_back()
        await page.get_by_role("region", name="Clients").wait_for()
        assert said == []
