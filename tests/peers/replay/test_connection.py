from __future__ import annotations

import asyncio

import pytest

from barnabas.peers.replay.connection import LiveConnection
from tests.peers.replay.test_player import Broker, fine


async def test_who_is_cancelled_while_it_closes_is_cancelled_alone() -> None:
    async with Broker(fine) as address:
        for turns in range(8):  # wherever it is in its closing
            connection = await LiveConnection.open(address)
            first, second = (asyncio.create_task(connection.close()) for _ in range(2))
            for _ in range(turns):
                await asyncio.sleep(0)
            was_under_way = not first.done()
            first.cancel()
            await second
            if was_under_way:
                with pytest.raises(asyncio.CancelledError):
                    await first
            assert connection.gone
