"""One socket of a connection, without sockets: what is done with a chunk, and in which order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from barnabas.proxy.connection.actions import PASS
from barnabas.proxy.network.endpoint import Endpoint, Owner
from barnabas.proxy.network.read_buffers import ReadBuffers


def test_what_passes_leaves_before_it_is_written_down() -> None:
    done: list[tuple[str, bytes]] = []

    def note(what: str) -> Any:
        return lambda *found: done.extend(
            (what, bytes(part)) for part in found if isinstance(part, memoryview)
        )

    buffers = ReadBuffers()
    owner = SimpleNamespace(
        connection=SimpleNamespace(receive=lambda *_: PASS),
        buffers=buffers,
        flow=SimpleNamespace(behind=False, arrived=note("written down")),
        throttled=False,
    )
    client, broker = (Endpoint(cast("Owner", owner), way) for way in ("request", "response"))
    client.peer, broker.peer = broker, client
    broker.transport = cast("Any", SimpleNamespace(write=note("sent")))
    client.get_buffer(-1)[:5] = b"bytes"
    client.buffer_updated(5)
    assert done == [("sent", b"bytes"), ("written down", b"bytes")]
