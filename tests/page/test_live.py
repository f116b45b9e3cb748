"""The page over live traffic of the embedded cluster, by keys, in a real browser."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.embedded import EmbeddedCluster
from tests.page.browser import LOOKS, axe, barnabas, page_at

if TYPE_CHECKING:
    from playwright.sync_api import Page


pytestmark = [pytest.mark.needs_chromium, pytest.mark.timeout(180)]


@pytest.fixture(
    params=["embedded", pytest.param("apache", marks=pytest.mark.needs_apache("4.3.1"))]
)
def brokers(request: pytest.FixtureRequest) -> ApacheCluster | None:
    """None: an embedded cluster."""
    return request.getfixturevalue("kafka") if request.param == "apache" else None


@contextlib.contextmanager
def proxied(*options: str, brokers: ApacheCluster | None = None) -> Iterator[dict[str, Any]]:
    embedded = EmbeddedCluster(1, topics={"orders": 1})
    with contextlib.nullcontext(brokers) if brokers else embedded as cluster:
        words = ("proxy", "-b", cluster.bootstrap, "--listen", "127.0.0.1:0", "--web", *options)
        with barnabas(*words) as ready:
            yield ready


def producer(ready: dict[str, Any], **settings: Any) -> Producer:
    return Producer({"bootstrap.servers": ready["listen"], "log_level": 0, **settings})


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_each_view_of_the_demo_has_what_it_promises_and_nothing_that_shuts_anyone_out(
    scheme: str, width: int
) -> None:
    promised = {
        "overview": ".figures dd",
        "exchanges": ".rows .api",
        "sequence": ".chart .lane.clients text",
        "groups": "rect.OffsetCommit",
        "transactions": "td:has-text('commit')",
        "topics": "td:has-text('written by')",
        "latency": "figure canvas",
        "breakpoints": "form.stop",
        "network": "td:has-text('orders-a')",
        "rules": "button:has-text('show ')",
    }
    with barnabas("demo", "--web") as ready, page_at(ready["page"], scheme, width) as page:
        page.wait_for_selector("header select", state="attached")
        for number, (name, selector) in enumerate(promised.items(), 1):
            if width < 760:
                page.get_by_label("View", exact=True).select_option(name)
            elif number < 10:
                page.keyboard.press(str(number))
            else:
                page.get_by_role("button", name=name.capitalize(), exact=True).click()
            page.wait_for_selector(f"main.{name}")
            page.locator(selector).first.wait_for()
            assert axe(page) == [], name
            assert page.locator("th:empty").count() == 0, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def pressed(page: Page, name: str) -> int:
    """Press the button of this name in each row of the writer that has one. Returns how many had."""
    buttons = page.locator("tr", has_text="writer").get_by_role("button", name=name).all()
    for one in reversed(buttons):
        one.click()
    return len(buttons)


def listens(address: str) -> bool:
    """Whether anybody does."""
    host, port = address.split(":")
    try:
        socket.create_connection((host, port)).close()
    except ConnectionRefusedError:
        return False
    return True


def test_the_hand_on_connections_and_on_the_proxy_is_what_a_client_feels(
    brokers: ApacheCluster | None,
) -> None:
    """Paused, one frame of each direction let through, resumed, closed; and drained."""
    with proxied(brokers=brokers) as ready, page_at(ready["page"]) as page:
        writer = producer(ready, **{"client.id": "writer"})
        writer.produce("orders", b"1")
        assert writer.flush(20) == 0
        page.get_by_role("button", name="Network", exact=True).click()
        ours = page.locator("tr", has_text="writer")
        ours.filter(has_not_text="bootstrap").wait_for()  # by this one it writes
        paused = pressed(page, "Pause")
        page.locator("tr.paused").nth(paused - 1).wait_for()
        writer.produce("orders", b"2")
        assert writer.flush(0.5) == 1
        pressed(page, "Step request")
        pressed(page, "Step response")
        assert writer.flush(20) == 0
        writer.produce("orders", b"3")
        assert writer.flush(0.5) == 1
        pressed(page, "Resume")
        assert writer.flush(20) == 0
        with page.expect_response(re.compile("/close$")):
            pressed(page, "Close")
        writer.produce("orders", b"4")
        assert writer.flush(20) == 0
        page.evaluate("window.confirm = () => true")
        with page.expect_response(re.compile("/drain$")):
            page.get_by_role("button", name="Drain and stop").click()
        page.goto("about:blank")  # what it asks now nobody answers
        while listens(ready["listen"]):
            page.wait_for_timeout(100)


def test_a_client_receives_what_somebody_made_of_a_message_that_waited(
    brokers: ApacheCluster | None,
) -> None:
    """Another offset in the answer to a Produce request, as librdkafka reports it."""
    offsets: list[int] = []
    with proxied(brokers=brokers) as ready, page_at(ready["page"]) as page:
        page.get_by_role("button", name="Breakpoints", exact=True).click()
        page.get_by_label("API").fill("Produce")
        page.get_by_label("direction").select_option("response")
        page.get_by_role("button", name="Stop at these").click()
        page.get_by_role("region", name="Breakpoints").wait_for()
        writer = producer(ready)
        writer.produce("orders", b"1", on_delivery=lambda _, sent: offsets.append(sent.offset()))
        assert writer.flush(1) == 1
        page.get_by_role("button", name="Sequence", exact=True).click()
        page.get_by_label("Show").select_option("all")
        waits = page.locator(".message.response.late:has-text('…')")  # it is in the proxy as yet
        waits.get_by_text("ms…").first.wait_for()
        waits.locator("text").first.click()
        page.locator(".said:has-text('waits in the proxy')").wait_for()
        page.get_by_role("button", name="Breakpoints", exact=True).click()
        page.get_by_role("button", name=re.compile(r"^Open \d+\.\d+$")).click()
        page.get_by_label("responses[0].partition_responses[0].base_offset").fill("4242")
        page.get_by_role("button", name="Let go changed").click()
        assert writer.flush(20) == 0
    assert offsets == [4242]


def test_what_comes_from_the_wire_is_text() -> None:
    """Markup as a client id, control characters as a topic, a header of 1 MiB."""
    with proxied() as ready, page_at(ready["page"]) as page:
        markup = '<img src=x onerror="document.title=1">'
        writer = producer(ready, **{"client.id": markup, "message.max.bytes": 4 << 20})
        writer.produce("orders", b"1", headers={"large": b"<b>" * (1 << 18)})
        assert writer.flush(20) == 0
        with contextlib.suppress(Exception):
            writer.list_topics("\x1b[31m\u202e<script>", timeout=5)
        page.locator(".row:has-text('Produce')").first.click()
        page.wait_for_selector("article .hex")
        assert markup in page.locator("article").inner_text()
        page.locator(".row:has-text('<script>')").first.click()
        page.locator("article:has-text('Metadata')").wait_for()
        assert "\\u001b[31m\\u202e<script>" in page.locator("article").inner_text()
        assert page.locator("article script, article b:not(.hex b), .row img").count() == 0
        page.get_by_role("button", name="Sequence", exact=True).click()
        page.get_by_label("Show").select_option("all")
        page.locator(".message text").first.wait_for()
        assert markup in page.locator(".lane.clients title").all_text_contents()
        page.locator(".message text").first.hover()
        page.wait_for_function(
            "document.querySelector('.message title').textContent.includes('<img')"
        )
        assert "barnabas" in page.title()


def test_that_the_capture_has_stopped_is_said_where_the_network_is(tmp_path: Path) -> None:
    options = ("--capture", str(tmp_path / "run.pcapng"), "--capture-limit", "2KiB")
    with proxied(*options) as ready, page_at(ready["page"]) as page:
        writer = producer(ready)
        writer.produce("orders", bytes(4096))
        assert writer.flush(20) == 0
        page.get_by_role("button", name="Network", exact=True).click()
        page.locator(".problem", has_text=re.compile(r"run\.pcapng: .* lost, stopped: ")).wait_for()


def test_a_payload_that_is_kept_out_of_the_log_is_kept_out_of_the_page() -> None:
    with proxied("--no-payload") as ready, page_at(ready["page"]) as page:
        writer = producer(ready)
        writer.produce("orders", b"zebra value", key=b"zebra key")
        assert writer.flush(20) == 0
        with page.expect_response(re.compile(r"/exchanges/\d+$")) as answer:
            page.locator(".row:has-text('Produce')").first.click()
        page.wait_for_selector("article .hex")
        assert "zebra" not in page.content()
        assert "zebra" not in answer.value.text()
        bare = page.locator(".hex").all_inner_texts()
        assert "zebra" not in "".join(bare).replace("\n", "")


def test_an_address_that_means_nothing_shows_the_overview() -> None:
    with (
        barnabas("open", "captures/samples/faults.pcapng") as ready,
        page_at(ready["page"] + "&at=abc&view=nope") as page,
    ):
        page.wait_for_selector("main.overview .figures")
        assert page.locator("aside").count() == 0
