"""A controller whose id a broker has, too (combined mode): nobody takes one for the other."""

from __future__ import annotations

from pathlib import Path

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.summary import Summary
from barnabas.cli.console.show import log_line_of, segments
from tests.proxy.frames import request
from tests.proxy.servers import ask, echo_metadata, running


def about(exchange: Exchange) -> tuple[int | None, int | None, str]:
    return exchange.broker, exchange.controller, dict(segments(log_line_of(exchange)))["broker"]


async def test_its_exchanges_are_not_those_of_the_broker(tmp_path: Path) -> None:
    path = tmp_path / "c.pcapng"
    async with running(echo_metadata, capture=path) as it:
        for kind in ("broker", "controller"):
            node = it.proxy.topology.node(kind, 1, it.proxy.options.bootstrap[0])
            await ask(node.listen[1], request("Metadata", 1))
        await it.until(lambda: len(it.done) == 2)
    expected = [(1, None, "b1"), (None, 1, "c1")]
    assert [about(exchange) for exchange in it.done] == expected
    assert [exchange.node for exchange in it.done] == [1, 1], "rules go by the id"
    capture, summary = open_capture(path), Summary(("broker",))
    read = list(capture.exchanges())
    for exchange in read:
        summary.note(exchange, capture.context)
    assert [about(exchange) for exchange in read] == expected
    assert [exchange.row()["broker"] for exchange in read] == [1, None]
    assert [exchange.row().get("controller") for exchange in read] == [None, 1]
    assert sorted(name for name, _ in summary.rows("broker")) == ["1", "c1"]
