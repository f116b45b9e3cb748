"""What traffic is told by the log's stream, when it waits for the log."""

from __future__ import annotations

import asyncio

from barnabas.captures.live.ring import Ring
from barnabas.cli.proxy.log_stream import LogStream
from barnabas.loop import run
from tests.proxy.servers import SOON


def test_traffic_waits_at_once_and_goes_on_when_half_is_free() -> None:
    """Not in the loop's next turn: the timer that ends the wait may be over before it."""
    told: list[bool] = []

    async def main() -> None:
        ring = Ring(2048)
        stream = LogStream(ring, {}, waits=True)
        over = asyncio.Event()

        def wait(waits: bool) -> None:
            told.append(waits)
            if not waits:
                over.set()

        stream.attach(wait)
        stream.line("x" * 1600)
        assert told == [True]
        ring.drop(ring.waiting)
        await asyncio.wait_for(over.wait(), SOON)

    run(main())
    assert told == [True, False]
