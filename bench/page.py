"""What the page costs: round trips at a steady rate, with nobody looking and with the list open.

The rate is kept whatever comes back, so a proxy that is slower for a while shows it in the latencies.
The page is in a real browser, on the same cores.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from rich.table import Table

from bench import machine, server
from bench.load import connected, loads, receive
from bench.proxies import Helper
from bench.targets import BARNABAS, Target, ours

RATES: Final = (1000, 5000)
"""Exchanges a second."""

WEB: Final = ("--web", "127.0.0.1:{control}", "--control-token-file", "{folder}/token")
KIND: Final = ours("barnabas: page", BARNABAS, *WEB)

WATCH: Final = """() => {
  window.tasks = [];
  new PerformanceObserver(list => window.tasks.push(...list.getEntries().map(each => each.duration)))
    .observe({type: "longtask", buffered: true});
}"""


@dataclass(slots=True)
class Looked:
    """Measurements at one rate, a figure per round."""

    rate: int
    alone: list[float] = field(default_factory=list)
    """Median round trip in ms with nobody looking."""
    open: list[float] = field(default_factory=list)
    """The same with the page open."""
    p99: list[tuple[float, float]] = field(default_factory=list)
    longest: float = 0.0
    """The longest task of the page's main thread, in ms; 0: none over 50."""
    sent: int = 0
    seen: int = 0
    """Exchanges while the page was open, and how many of them it knows."""
    heap_mib: float = 0.0
    """Of the page's JavaScript."""
    proxy_mib: float = 0.0
    """Of all processes of the proxy, with a pretty log: what they share counts once."""


def paced(pipe: Connection) -> None:
    """Run the load generator's process: port, rate and seconds in, latencies in seconds out."""
    load = loads()["ping-pong"]
    while True:
        port, rate, seconds = pipe.recv()
        sent: list[float] = []
        latencies: list[float] = []
        with connected(port) as sock:
            sock.settimeout(20)
            sender = threading.Thread(target=_send, args=(sock, load.requests, rate, seconds, sent))
            sender.start()
            buffer = memoryview(bytearray(len(load.responses)))
            for number in range(round(rate * seconds)):
                receive(sock, buffer)
                latencies.append(time.perf_counter() - sent[number])
            sender.join()
        pipe.send(latencies)


def _send(
    sock: socket.socket, request: bytes, rate: int, seconds: float, sent: list[float]
) -> None:
    begun = time.perf_counter()
    for number in range(round(rate * seconds)):
        due = begun + number / rate
        if (wait := due - time.perf_counter()) > 0:
            time.sleep(wait)
        sent.append(due)
        sock.sendall(request)


def measure(
    rounds: int, seconds: float, progress: Callable[[str], None]
) -> tuple[list[Looked], str]:
    """Both rates. The remark says what is missing."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return [], "playwright is not installed: what the page costs is not measured"
    if shutil.which("chromium") is None:
        return [], "chromium is not on the path: what the page costs is not measured"
    results = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="barnabas-bench-")))
        serving, client = Helper(server.serve), Helper(paced)
        stack.callback(serving.stop)
        stack.callback(client.stop)
        target = stack.enter_context(Target(KIND, serving.receive(), folder))
        driver = stack.enter_context(sync_playwright())
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        stack.callback(browser.close)
        token = (folder / "token").read_text().strip()
        address = f"http://127.0.0.1:{target.control}/#token={token}&view=exchanges"
        _round(client, target.port, 200, 1)
        for rate in RATES:
            looked = Looked(rate)
            for number in range(rounds):
                progress(f"page: {rate} exchanges a second, round {number + 1} of {rounds}")
                alone = _round(client, target.port, rate, seconds)
                with _page(browser, address, looked):
                    watched = _round(client, target.port, rate, seconds)
                looked.sent += len(watched)
                looked.alone.append(1e3 * median(alone))
                looked.open.append(1e3 * median(watched))
                looked.p99.append((1e3 * _p99(alone), 1e3 * _p99(watched)))
            looked.proxy_mib = (target.resident_kib() or 0) / 1024
            results.append(looked)
    return results, ""


def _round(client: Helper, port: int, rate: int, seconds: float) -> list[float]:
    client.pipe.send((port, rate, seconds))
    latencies: list[float] = client.receive()
    return latencies


def _p99(latencies: list[float]) -> float:
    return quantiles(latencies, n=100)[98]


@contextlib.contextmanager
def _page(browser: Any, address: str, looked: Looked) -> Iterator[None]:
    page = browser.new_page(viewport={"width": 1600, "height": 900})
    page.goto(address)
    page.wait_for_selector(".row .api")
    page.keyboard.press("l")  # follow
    page.evaluate(WATCH)
    before = _end(page)
    yield
    page.wait_for_timeout(1000)
    looked.seen += _end(page) - before
    looked.longest = max([looked.longest, *page.evaluate("window.tasks")])
    looked.heap_mib = max(
        looked.heap_mib, page.evaluate("performance.memory.usedJSHeapSize") / 2**20
    )
    page.close()


def _end(page: Any) -> int:
    results: int = page.evaluate("import('/page/store.js').then(({state}) => state.source.end)")
    return results


def table(results: list[Looked], remark: str) -> Table:
    """Medians over the rounds."""
    made = Table(
        title=f"the page, in a browser on the same cores ({machine.describe()})", caption=remark
    )
    for name in ("a second", "p50 ms", "page open", "ratio", "p99 ms", "page open", "longest task ms",
                 "known of sent", "page MiB", "proxy MiB"):  # fmt: skip
        made.add_column(name, justify="right")
    for row in results:
        alone, watched = median(row.alone), median(row.open)
        p99 = [median(each) for each in zip(*row.p99, strict=True)]
        made.add_row(
            *(str(row.rate), f"{alone:.3f}", f"{watched:.3f}", f"{watched / alone:.2f}"),
            *(f"{p99[0]:.2f}", f"{p99[1]:.2f}", f"{row.longest:.0f}" if row.longest else "< 50"),
            *(f"{row.seen} of {row.sent}", f"{row.heap_mib:.0f}", f"{row.proxy_mib:.0f}"),
        )
    return made
