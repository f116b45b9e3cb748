"""The report in a real browser, which has no network but a listener of ours."""

from __future__ import annotations

import html
import json
import re
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from barnabas.pipeline.report.page import page, plotly
from barnabas.pipeline.report.registry import SECTIONS
from tests.pipeline.report.made import OVERVIEW, results
from tests.pipeline.report.test_page import Seen

PROBE = """
;const probe = {errors: [], refused: [], chosen: {}, sorted: [], names: {}};
addEventListener("error", event => probe.errors.push(event.message));
addEventListener("unhandledrejection", event => probe.errors.push(String(event.reason)));
console.error = console.warn = (...said) => probe.errors.push(said.join(" "));
window.alert = said => probe.errors.push("alert " + said);
document.addEventListener("securitypolicyviolation", event => probe.refused.push(event.blockedURI));
new MutationObserver((_, observer) => {
  if (!document.body.dataset.drawn) return;
  observer.disconnect();
  const button = document.querySelector("button[data-choice=p50]");
  const before = document.getElementById("latency-0").data.map(trace => trace.meta);
  button.click();
  const after = document.getElementById("latency-0").data.map(trace => trace.meta);
  probe.chosen = {before, after, pressed: button.getAttribute("aria-pressed")};
  const heading = [...document.querySelectorAll("#commits th")].find(one => one.textContent === "again");
  heading.click();
  heading.click();
  const table = heading.closest("table"), column = heading.cellIndex;
  probe.sorted = [...table.tBodies[0].rows].map(row => row.cells[column].textContent);
  const ticks = [...document.querySelectorAll("#errors-0 .ytick text")];
  const bars = document.getElementById("errors-0").data[0];
  probe.names = {whole: bars.y, shown: ticks.map(one => one.textContent)};
  const told = document.createElement("pre");
  told.id = "probe";
  told.textContent = JSON.stringify(probe);
  document.body.append(told);
}).observe(document.documentElement, {attributes: true, subtree: true, attributeFilter: ["data-drawn"]});
"""
"""Stands behind plotly in its script: the page lets no other run."""


SHORT = 40
"""Characters that a name has at an axis, at most."""

OWN = re.compile(r"^\w+ (https?://)?[\w.-]+\.(google|googleapis|gvt1)\.com[:/]")
"""What chromium asks for of itself, whatever it shows."""


class Browsed(NamedTuple):
    """What came of a page."""

    dom: str
    console: list[str]
    asked: list[str]
    """First lines of what the browser wanted from a network."""


def browse(text: str, folder: Path) -> Browsed:
    """Open a page in chromium, whose proxy is a listener that keeps what it is asked for."""
    file = folder / "page.html"
    file.write_text(text, "utf-8")
    asked: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            while True:
                try:
                    caller, _ = listener.accept()
                except OSError:
                    return
                with caller:
                    asked.append(caller.recv(200).decode("latin-1").split("\r\n")[0])

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            browser = subprocess.run(
                [
                    "chromium",
                    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
                    *("--disable-background-networking", "--disable-component-update"),
                    *("--disable-sync", "--no-first-run", "--disable-default-apps"),
                    f"--proxy-server=127.0.0.1:{listener.getsockname()[1]}",
                    "--proxy-bypass-list=<-loopback>",
                    f"--user-data-dir={folder / 'profile'}",
                    *("--enable-logging=stderr", "--virtual-time-budget=20000"),
                    *("--window-size=1280,9000", "--dump-dom", file.as_uri()),
                ],
                capture_output=True,
                text=True,
                timeout=90,
                check=True,
            )
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
    console = [line for line in browser.stderr.splitlines() if "CONSOLE" in line]
    return Browsed(browser.stdout, console, [line for line in asked if not OWN.search(line)])


@pytest.mark.needs_chromium
def test_all_plots_are_drawn_without_a_request_or_an_error(tmp_path: Path) -> None:
    seen = browse(page(OVERVIEW, results(), plotly() + PROBE), tmp_path)
    assert seen.console == []
    assert seen.asked == []
    told = re.search(r'<pre id="probe">(.*?)</pre>', seen.dom)
    assert told is not None
    probe: dict[str, Any] = json.loads(html.unescape(told[1]))
    assert probe["errors"] == []
    assert probe["refused"] == [], "nothing was even tried"
    # a choice shows its own traces, a heading sorts by numbers
    assert set(probe["chosen"]["before"]) == {"p99"}
    assert set(probe["chosen"]["after"]) == {"p50"}
    assert probe["chosen"]["pressed"] == "true"
    assert probe["sorted"] == ["0", "0", "0", "20"]

    # a long name keeps its ends at an axis, and is whole for who points at it
    names = probe["names"]
    assert any(len(one) > SHORT for one in names["whole"])
    assert len(names["shown"]) == len(names["whole"])
    assert [one for one in names["shown"] if len(one) > SHORT] == []

    page_itself = Seen(seen.dom)
    plots = [one for tag, one in page_itself.tags if "js-plotly-plot" in str(one.get("class"))]
    assert len(plots) == sum(len(section.draw(results()).plots) for section in SECTIONS)
    drawn = [str(one.get("class")) for _, one in page_itself.tags]
    for kind in ("scatterlayer", "barlayer", "heatmaplayer"):
        assert any(kind in one for one in drawn)
    # of what a client called itself, nothing is more than text
    for tag, one in page_itself.tags:
        assert tag != "img"
        assert not any("evil.test" in str(value) for name, value in one.items() if "href" in name)
        assert not any(name.startswith("on") for name in one)


@pytest.mark.needs_chromium
def test_a_request_would_have_been_seen(tmp_path: Path) -> None:
    """The listener of the other test hears what a page asks for."""
    seen = browse("<!doctype html><img src='http://evil.test/x'><script>oops()</script>", tmp_path)
    assert any("evil.test" in line for line in seen.asked)
    assert any("oops" in line for line in seen.console)
