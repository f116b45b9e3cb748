"""The page over groups of the designs that never shipped, in a real browser: as those of real Kafka."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.page.browser import axe, barnabas, page_at

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [
    pytest.mark.needs_apache("3.9.1"),  # for its ZooKeeper
    pytest.mark.needs_chromium,
    pytest.mark.timeout(240),
]

DIALECTS = {"rewrite": "rewrite-0.8.2", "central": "central-coordination"}
"""Of each design."""

SAID_BY = {"rewrite": ("OffsetCommit", "OffsetFetch"), "central": ("StopFetcher", "StartFetcher")}
"""By which of its messages an offset is known."""


@contextlib.contextmanager
def consumer(design: str, address: str) -> Iterator[subprocess.Popen[str]]:
    """A member of g that has something to fetch; it dies in the end, if it has not before."""
    words = ["peers", "consume", design, "-b", address, "--group", "g", "--topic", "t"]
    with subprocess.Popen(
        [sys.executable, "-m", "barnabas", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert any("starts to fetch t[" in line for line in process.stderr or ())
            yield process
        finally:
            process.kill()


def produce(address: str, count: int) -> None:
    words = ["peers", "produce", "-b", address, "--topic", "t"]
    lines = "".join(f"{number}\n" for number in range(count))
    subprocess.run([sys.executable, "-m", "barnabas", *words], input=lines, text=True, check=True)


def members(page: Page, count: int) -> Locator:
    """So many stand in a row of generations."""
    return page.locator(f"td:nth-child(4):text-is('{count}')")


@pytest.mark.parametrize("design", DIALECTS)
def test_a_group_has_its_members_generations_and_lag(design: str, tmp_path: Path) -> None:
    pytest.importorskip("kazoo", reason="needs kazoo (install barnabas with the extra 'zookeeper')")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(f"version: 1\ndialect: {DIALECTS[design]}\nrules: []\n")
    start = ("peers", "start", design, "--nodes", "1", "--topic", "t:4")
    with (
        barnabas(*start) as brokers,
        barnabas(
            *("proxy", "-b", brokers["bootstrap"], "--listen", "127.0.0.1:0", "--web"),
            *("--scenario", str(scenario)),
        ) as ready,
        page_at(ready["page"]) as page,
        consumer(design, ready["listen"]),
    ):
        page.get_by_role("button", name="Groups", exact=True).click()
        generations = page.get_by_role("region", name="Generations", exact=True).locator("tbody tr")
        lag = page.get_by_role("region", name="Lag", exact=True).locator("tbody tr")
        generations.first.wait_for()
        produce(ready["listen"], 8)
        with consumer(design, ready["listen"]) as second:
            name = f"consumer-{second.pid}"
            joined = generations.filter(has_text=f"{name} joined").filter(has_text="t[")
            joined.filter(has=members(page, 2)).wait_for(timeout=60_000)
            second.kill()
            removed = generations.filter(has_text=f"{name} was removed")
            removed.filter(has=members(page, 1)).wait_for(timeout=90_000)  # its session is over
        assert page.locator(".names div", has_text="consumer-").count() == 2
        lag.filter(has=page.locator("td:nth-child(4):text-is('2')")).nth(3).wait_for()
        for row in lag.all():
            _, committed, said_by, end, behind, _ = row.locator("td").all_inner_texts()
            assert int(committed) + int(behind) == int(end) == 2
            assert said_by in SAID_BY[design]
        page.set_viewport_size({"width": 400, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        assert axe(page) == []
