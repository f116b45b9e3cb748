"""A broker of a design in this process: what it does while it opens its logs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.logs import files
from barnabas.designs.brokers.processes.node import Node
from barnabas.designs.brokers.processes.session import leave, session
from barnabas.designs.brokers.registry.topics import Topics
from barnabas.designs.brokers.registry.zookeeper import ZooKeeperRegistry
from barnabas.designs.protocol_guide.client_0_8 import Client, Message
from barnabas.peers.apache.keeper import ZooKeeper
from tests.waiting import SOON

pytest.importorskip("kazoo", reason="needs kazoo (install barnabas with the extra 'zookeeper')")

pytestmark = [
    pytest.mark.needs_apache("3.9.1"),
    pytest.mark.slow("a ZooKeeper of its own"),
    pytest.mark.timeout(180),
]


@pytest.fixture(scope="module")
def zookeeper() -> Iterator[str]:
    with ZooKeeper("3.9.1") as one:
        yield one.address


def asked(address: Address) -> bool:
    """Whether a broker answers."""
    with Client([address], timeout=SOON) as client:
        return "t" in client.refresh(["t"]).partitions


def produced(address: Address) -> int:
    """The error of a record for t[0], when it is led."""
    with Client([address], patience=SOON) as client:
        return client.produce({("t", 0): [Message(None, b"a")]})["t", 0].error


def test_it_answers_others_while_it_opens_a_large_log(
    zookeeper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opens, large = threading.Event(), threading.Event()
    real = files.LogFile.__init__

    def slow(self: files.LogFile, *arguments: object) -> None:
        opens.set()
        assert large.wait(SOON)
        real(self, *arguments)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(files.LogFile, "__init__", slow)

    async def run() -> tuple[bool, int]:
        client = await asyncio.to_thread(session, zookeeper)
        Topics(ZooKeeperRegistry(client, "/opens")).grow("t", "0")
        node = Node(client, "/opens", "rewrite", 1, 1, tmp_path, lambda line: None)
        await node.listen(("127.0.0.1", 0), SOON)
        try:
            assert await asyncio.to_thread(opens.wait, SOON)
            answers = await asyncio.to_thread(asked, node.address)
            large.set()
            return answers, await asyncio.to_thread(produced, node.address)
        finally:
            large.set()
            await node.stop()
            await asyncio.to_thread(leave, client)

    assert asyncio.run(run()) == (True, 0)
