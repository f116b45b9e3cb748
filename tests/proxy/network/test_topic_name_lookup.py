"""Names of topics that no client has asked for: the proxy asks a broker itself, beside the traffic."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from barnabas.cli.app import app
from barnabas.loop import run
from barnabas.proxy.control import lines
from barnabas.proxy.control.history import History
from barnabas.proxy.control.views import status
from barnabas.proxy.network.report import report
from barnabas.proxy.network.tls import Tls
from barnabas.proxy.network.topic_name_lookup import VERSION, question, topic_names
from barnabas.proxy.scenario.file import loads
from barnabas.specs import decode_frame
from barnabas.specs.frames import request_head
from barnabas.specs.keys import FETCH, METADATA, SASL_HANDSHAKE
from tests.proxy.frames import raw, request, response
from tests.proxy.servers import SOON, Running, ask, read_frame, running, server_context, to_broker

ORDERS = uuid.UUID("6d1f0c38-3a8e-4a8c-9d3e-2f6f5a3c1b7e")
CLICKS = uuid.UUID("00000000-0000-4000-8000-000000000001")

RULE = """
version: 1
rules: [{name: r, match: {api: Fetch, direction: request, topic: orders}, do: {delay: 1ms}}]
"""


class Broker:
    """One that knows orders, and answers Fetch, Metadata by id, and a SASL handshake."""

    def __init__(self) -> None:
        self.asked: list[list[uuid.UUID]] = []
        self.silent = False
        """Whether it closes a connection on which it is asked for names."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                frame = await read_frame(reader)
                head = request_head(frame, 0, len(frame))
                if head.key == METADATA:
                    assert (head.version, head.client_id) == (VERSION, "barnabas")
                    topics = decode_frame(frame, "request").body["topics"]
                    self.asked.append([topic["topic_id"] for topic in topics])
                    if self.silent:
                        break
                    writer.write(self.named(head.correlation_id))
                elif head.key == FETCH:
                    writer.write(response("Fetch", head.correlation_id, version=head.version))
                else:
                    assert head.key == SASL_HANDSHAKE
                    writer.write(response("SaslHandshake", head.correlation_id))
        writer.close()

    def named(self, correlation_id: int) -> bytes:
        results = [
            {"topic_id": topic, "name": "orders"}
            if topic == ORDERS
            else {"topic_id": topic, "name": None, "error_code": 100}
            for topic in self.asked[-1]
        ]
        brokers = [{"node_id": 1, "host": "real", "port": 9092}]
        body = {"topics": results, "brokers": brokers}
        return response("Metadata", correlation_id, version=VERSION, **body)


def fetch(*topics: uuid.UUID) -> bytes:
    """Return a Fetch by topic id, of a client that never asks for Metadata."""
    requested = [{"topic_id": topic, "partitions": [{"partition": 0}]} for topic in topics]
    return request("Fetch", 1, version=13, topics=requested)


def undecided(it: Running) -> dict[str, Any]:
    result = status(report(it.proxy), it.proxy.options, it.proxy.address, History())
    assert list(lines.status(result))
    return result


@pytest.mark.parametrize("observed", [True, False])
def test_a_rule_that_is_loaded_later_fires_though_nobody_ever_asks_for_metadata(
    observed: bool, tmp_path: Path
) -> None:
    capture, broker = tmp_path / "c.pcapng", Broker()

    async def main() -> None:
        async with running(broker, capture=capture, observed=observed) as it:
            await ask(it.port, fetch(ORDERS, CLICKS))
            it.proxy.replace(loads(RULE), "a test")
            (rule,) = it.proxy.rules.rules
            await ask(it.port, fetch(ORDERS, CLICKS))
            assert (rule.matched, rule.unclear) == (0, 1)
            await it.until(lambda: not it.proxy.shared.unresolved)
            await ask(it.port, fetch(ORDERS, CLICKS))
            assert (rule.matched, rule.fired, rule.unclear) == (1, 1, 1)
            assert [set(ids) for ids in broker.asked] == [{ORDERS, CLICKS}]
            await ask(it.port, fetch(CLICKS))  # not known there, and not asked for again soon
            assert rule.unclear == 2
            assert not it.proxy.shared.unresolved
            result = undecided(it)
            assert result["undecided"] == [
                {"rule": "r", "messages": 2, "reason": "topic ID not yet resolved"}
            ]
            assert result["topic_names"] == {
                "wanted": 0,
                "trouble": "the brokers have no topic with this ID, or do not say",
            }
            assert sum("undecided" in line for line in it.said) == 1
            assert [exchange.key for exchange in it.done] == [FETCH] * 4 * observed

    run(main())
    scenario = tmp_path / "s.yaml"
    scenario.write_text(RULE)
    reported = CliRunner().invoke(app, ["rehearse", str(scenario), str(capture), "--check"])
    assert (reported.exit_code, reported.stdout) == (0, ""), reported.exception
    assert "1 fired" in reported.stderr


async def test_a_broker_that_does_not_tell_is_said_once_and_costs_no_traffic() -> None:
    broker = Broker()
    broker.silent = True

    async with running(broker, RULE) as it:
        for _ in range(5):
            await ask(it.port, fetch(ORDERS))
        await it.until(lambda: it.proxy.shared.unresolved.trouble)
        await ask(it.port, fetch(ORDERS))
        (rule,) = it.proxy.rules.rules
        assert (rule.matched, rule.unclear) == (0, 6)
        trouble = undecided(it)["topic_names"]["trouble"]
        assert trouble == ("can't ask the brokers: the broker closed the connection")
        assert [line for line in it.said if trouble in line] == [
            f"topic ID not yet resolved, a rule needs its name: {trouble}; "
            "a client's next Metadata request will resolve it"
        ]
        assert broker.asked == [[ORDERS]]  # and not again at once


async def test_brokers_that_want_sasl_are_not_asked_and_that_is_said() -> None:
    broker = Broker()

    async with running(broker, RULE) as it:
        await ask(it.port, request("SaslHandshake", 1, mechanism="PLAIN"), fetch(ORDERS))
        await it.until(lambda: it.proxy.shared.unresolved.trouble)
        assert broker.asked == []
        assert undecided(it)["topic_names"]["trouble"] == (
            "can't ask the brokers: they require SASL, and the proxy has no credentials"
        )


async def test_brokers_are_asked_by_tls_if_that_is_how_they_are_reached() -> None:
    broker = Broker()

    tls = Tls(broker=to_broker())
    async with running(broker, RULE, broker_tls=server_context(), tls=tls) as it:
        await ask(it.port, fetch(ORDERS))
        await it.until(lambda: it.proxy.shared.topics.get(ORDERS))
        assert it.proxy.shared.topics[ORDERS] == "orders"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "closed the connection"),
        (raw(b"\0\0\0\0\0\xff")[:-1], "closed the connection"),
        ((1 << 20).to_bytes(4), "a response of 1048576 bytes; the limit is 1000"),
        (raw(b"\0\0"), "cut off"),
    ],
)
async def test_an_answer_that_is_none_costs_the_question_only(answer: bytes, said: str) -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert raw(await read_frame(reader)) == question([ORDERS])
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(broker, "127.0.0.1", 0)
    address = server.sockets[0].getsockname()[:2]
    with pytest.raises((OSError, ValueError), match=said):
        await topic_names([ORDERS], [address], None, patience=SOON, largest=1000)
    server.close()


@pytest.mark.parametrize("runner", [run, asyncio.run], ids=["uvloop", "asyncio"])
async def test_who_never_answers_is_waited_for_no_longer_than_that(
    runner: Callable[[Any], None],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = silent.getsockname()[:2]
        with pytest.raises(TimeoutError):
            await topic_names([ORDERS], [address], None, patience=0.01, largest=1000)
