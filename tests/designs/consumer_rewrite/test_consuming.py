"""A consumer of the rewrite that fetches: what it does for its group while a leader is silent."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from barnabas.designs.brokers.listener import Address
from barnabas.designs.consumer_rewrite import consuming as rewrite
from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from barnabas.designs.consuming import fetcher
from tests.designs.brokers.logs.broker import with_broker
from tests.waiting import eventually


def test_a_leader_that_is_silent_holds_up_no_heartbeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the coordinator takes the consumer for dead: its session is shorter than the leader's silence."""
    monkeypatch.setattr(fetcher, "TIMEOUT", 60.0)
    monkeypatch.setattr(rewrite, "COMMIT", 100)

    async def run(address: Address, silent: socket.socket) -> None:
        over = asyncio.Event()

        async def consume(said: list[str]) -> None:
            settings = ConsumerSettings(
                "g", (address,), ("t",), session_timeout_ms=20_000, heartbeat_frequency=200
            )
            await rewrite.consume(settings, lambda *what: None, said.append, over, [])

        async def hear(said: list[str], words: str) -> None:
            await eventually(lambda: any(words in line for line in said))

        first, second = list[str](), list[str]()
        tasks = [asyncio.create_task(consume(first))]
        await hear(first, "starts to fetch t[0:0 1:0]: generation 1")
        connection, _ = await asyncio.get_running_loop().sock_accept(silent)
        tasks.append(asyncio.create_task(consume(second)))
        await hear(second, ": generation 2")
        await hear(first, ": generation 2")
        assert [line.partition(" to fetch")[0] for line in first] == ["starts", "stops", "starts"]
        over.set()
        silent.close()
        connection.close()
        await asyncio.gather(*tasks)

    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        other = silent.getsockname()
        with_broker("rewrite", tmp_path, lambda at: asyncio.run(run(at, silent)), other)
