"""A broker of a design with logs, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.logs.files import Logs
from barnabas.designs.brokers.processes.designs import DesignParts, design_of
from barnabas.designs.brokers.registry import MemoryElector, MemoryRegistry
from barnabas.designs.brokers.registry.topics import Topics


def with_broker(
    design: str, folder: Path, client: Callable[[Address], Any], other: Address | None = None
) -> Any:
    """What a client in a thread of its own gets of a broker with a topic t of two partitions.

    other: of a second one, to which it says that t[1] belongs.
    """

    async def run() -> Any:
        electors = {number: MemoryElector() for number in range(design_of(design).elections)}
        registry, logs = MemoryRegistry(), Logs(folder)
        Topics(registry).grow("t", "0", "1")
        logs.lead([("t", 0), ("t", 1)])
        parts = DesignParts(
            *(1, 2 if other else 1, registry, electors, logs),
            watch=lambda node, action: None,
            ended=lambda node: None,
        )
        server = design_of(design).make(parts)
        await server.start()
        address = server.listener.address
        nodes = {1: address, **({2: other} if other else {})}
        server.front.cluster(nodes, {"t": 2})
        for one in electors.values():
            one.enter(1)
        server.set_cluster(nodes, {number: one.leader() for number, one in electors.items()})
        try:
            return await asyncio.to_thread(client, address)
        finally:
            await server.stop()
            logs.close()

    return asyncio.run(run())
