"""Breakpoints in a real browser, before a proxy with a client that waits."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from barnabas.page.api import PageContent, application, is_file
from barnabas.proxy.control.api import routes
from barnabas.proxy.control.history import History
from barnabas.proxy.control.local_target import LocalTarget
from barnabas.proxy.control.server import serve
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api
from barnabas.specs.frames import request_head
from barnabas.specs.records import Record, build, read
from tests.page.browser import LOOKS, opened_at
from tests.proxy.faults.given import produce
from tests.proxy.frames import request
from tests.proxy.servers import SOON, Handler, Running, echo_metadata, read_frame, running

pytestmark = pytest.mark.needs_chromium

Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]
MARKUP = "<img src=x onerror=alert(1)>"


@asynccontextmanager
async def opened(
    scheme: str, width: int, broker: Handler = echo_metadata
) -> AsyncIterator[tuple[Running, Callable[[], Awaitable[Client]], Any]]:
    """A proxy, what connects a client to it, and its page at the view of breakpoints."""
    async with (
        running(broker, observed=False, drain=0.2) as it,
        Served(it) as where,
        opened_at(f"{where}/#token=secret&view=breakpoints", scheme, width) as (page, said),
    ):
        yield it, it.connect, page
        assert await page.locator("th:empty").count() == 0
        wide = await page.evaluate("document.documentElement.scrollWidth")
        refused = "Failed to load resource: the server responded with a status of 4"
        assert [line for line in said if not line.startswith(refused)] == []
        assert wide <= width


class Served:
    """The page of a proxy that runs."""

    def __init__(self, it: Running) -> None:
        self.it = it

    async def __aenter__(self) -> str:
        target, history = LocalTarget(self.it.proxy), History(lambda _: None)
        topics = self.it.proxy.shared.topics
        steering = routes(target, history, topics, lambda: None, lambda _: 0)
        source = {"kind": "live", "name": "proxy", "keeps": 100}
        app = application(PageContent(history, source), steering)
        self.history = history
        self.serving = await serve(app, ("127.0.0.1", 0), "secret", is_file)
        return f"http://127.0.0.1:{self.serving.address[1]}"

    async def __aexit__(self, *_: object) -> None:
        self.history.close()
        await asyncio.wait_for(self.serving.stop(), 5)


async def axe(page: Any) -> list[Any]:
    """What shuts people out, by axe-core."""
    from axe_playwright_python.async_playwright import Axe

    found = (await Axe().run(page)).response["violations"]
    return [each for each in found if each["impact"] in ("serious", "critical")]


async def stop_at(page: Any, direction: str, *, next_only: bool = False) -> None:
    await page.get_by_label("API").fill("Metadata")
    await page.get_by_label("direction").select_option(direction)
    if next_only:
        await page.get_by_label("next match only").check()
    await page.get_by_role("button", name="Stop at these").click()
    await page.get_by_role("region", name="Breakpoints").wait_for()


async def body(reader: asyncio.StreamReader) -> Any:
    frame = await asyncio.wait_for(read_frame(reader), SOON)
    return api("Metadata").response.codec(1).decode(frame[4:])


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_client_gets_what_was_edited_and_the_next_message_is_left_alone(
    scheme: str, width: int
) -> None:
    async with opened(scheme, width) as (_, connect, page):
        await stop_at(page, "response")
        reader, writer = await connect()
        for number in range(2):
            writer.write(request("Metadata", number, client=MARKUP))
        await page.get_by_role("button", name="1.1").click()
        assert MARKUP in await page.get_by_label("Message 1.1").inner_text()
        field = page.get_by_label("controller_id")
        await field.fill("x")
        assert await page.get_by_role("button", name="Let go").is_disabled()
        await field.fill("-7")
        await page.get_by_label("brokers[1].host").fill("näxt\x1b")
        await page.get_by_label("Remove brokers[2]").click()
        for _ in range(2):
            await page.get_by_label("Add to brokers").click()
        await page.get_by_label("Remove what is added to brokers").first.click()
        added = page.get_by_label("added to brokers", exact=True)
        like = json.loads(await added.input_value())
        await added.fill("{")
        assert await page.get_by_role("button", name="Let go").is_disabled()
        await added.fill(json.dumps({**like, "port": 4242}))
        assert await axe(page) == []
        for _ in range(2):  # the queue is asked for meanwhile
            async with page.expect_response("**/breakpoints"):
                pass
        assert await field.input_value() == "-7"
        await page.get_by_role("button", name="Let go changed").click()
        found = await body(reader)
        assert found["controller_id"] == -7
        assert found["brokers"][1]["host"] == "näxt\x1b"
        assert found["brokers"][2] == {**like, "port": 4242}
        assert len(found["brokers"]) == 3
        scenario = await page.get_by_label("Scenario").inner_text()
        assert "controller_id: -7" in scenario
        assert await page.locator("article.waiting").count() == 0
        await page.get_by_role("button", name="1.2").click()
        assert await page.get_by_label("controller_id").input_value() == "-1"
        await page.get_by_role("button", name="Let go").click()
        assert len((await body(reader))["brokers"]) == 3
        await page.get_by_text("No message waits at a breakpoint.").wait_for()
        writer.close()


async def test_a_request_is_answered_or_replaced_by_bytes_and_mistakes_are_said() -> None:
    async with opened("light", 900) as (_, connect, page):
        await stop_at(page, "request")
        reader, writer = await connect()
        for number in range(2):
            writer.write(request("Metadata", number))
        await page.get_by_role("button", name="1.2").click()
        await page.get_by_label("topics").fill('[{"name": 7}]')
        await page.get_by_role("button", name="Let go changed").click()
        await page.get_by_text(
            "no message that the rule matches can hold it: topics[0].name"
        ).wait_for()
        await page.get_by_text("Other bytes").click()
        await page.get_by_label("Bytes of the body in hex").fill("00 00 00 00 01")
        await page.get_by_role("button", name="Let go changed").click()
        await page.get_by_text("1.2: replace with 5 bytes").wait_for()
        await page.get_by_role("button", name="1.1").click()
        await page.get_by_label("error").fill("INVALID_TOPIC_EXCEPTION")
        await page.get_by_role("button", name="Answer with it").click()
        assert (await body(reader))["brokers"] == []
        assert len((await body(reader))["brokers"]) == 3
        writer.close()


async def test_records_are_edited_one_by_one_and_the_batch_fits_again() -> None:
    seen: list[bytes] = []

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            seen.append(await read_frame(reader))
        writer.close()

    async with opened("light", 900, broker) as (it, connect, page):
        it.proxy.replace(
            loads("version: 1\nrules: [{name: look, match: {api: Produce}, do: breakpoint}]"),
            "the test",
        )
        _, writer = await connect()
        sent = [Record(n, 1000, None, b"value %d" % n) for n in range(3)]
        writer.write(produce(1, 1, build(sent)))
        await page.get_by_role("button", name="1.1").click()
        record = page.get_by_label("records record 1 value")
        assert await record.input_value() == "value 1"
        await record.fill("changed")
        await page.get_by_label("records record 0 timestamp").fill("2000")
        headers = page.get_by_label("records record 0 headers")
        assert await headers.input_value() == "[]"
        await headers.fill('[["h"')
        assert await page.get_by_role("button", name="Let go").is_disabled()
        await headers.fill('[["h", "x"], ["h", null]]')
        await page.get_by_label("topic_data[0].name").fill("u")
        await page.get_by_role("button", name="Let go changed").click()
        await it.until(lambda: seen)
        body = seen[0][request_head(seen[0], 0, len(seen[0])).body :]
        (topic,) = api("Produce").request.codec(7).decode(body)["topic_data"]
        (batch,) = read(topic["partition_data"][0]["records"])
        assert (topic["name"], batch.crc_ok) == ("u", True)
        assert list(batch) == [
            Record(0, 2000, None, b"value 0", (("h", b"x"), ("h", None))),
            Record(1, 1000, None, b"changed"),
            Record(2, 1000, None, b"value 2"),
        ]
        writer.close()


async def test_the_next_match_only_and_what_leaves_by_itself() -> None:
    async with opened("light", 900) as (it, connect, page):
        await stop_at(page, "request", next_only=True)
        reader, writer = await connect()
        for number in range(2):
            writer.write(request("Metadata", number))
        await page.get_by_role("button", name="1.1").click()
        await page.get_by_role("button", name="Drop it alone").wait_for()
        await page.get_by_role("button", name="Remove: stop at Metadata request").click()
        await page.get_by_text("It no longer waits").wait_for()
        assert it.proxy.rules.rules == ()
        for _ in range(2):
            await body(reader)
        it.proxy.replace(loads("version: 1\nrules: []"), "the test")
        writer.close()
