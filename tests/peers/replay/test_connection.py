from __future__ import annotations

import asyncio

import pytest

from peers.replay.connection import LiveConnection


def test_who_is_cancelled_while_it_closes_is_cancelled_alone() -> None:
    async def main() -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()
            await writer.wait_closed()

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        for turns in range(8):  # wherever it is in its closing
            connection = await LiveConnection.open(server.sockets[0].getsockname()[:2])
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
        server.close()

    asyncio.run(main())
