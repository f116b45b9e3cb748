"""The API that Kafka took over: ConsumerMetadata passes the proxy as FindCoordinator v0."""

from __future__ import annotations

import struct
from typing import Any

from barnabas.designs.consumer_rewrite.schemas.rewrite_0_8_2 import ConsumerMetadata
from tests.proxy.frames import Chunks, raw, slicings
from tests.proxy.playbook import Stage


@slicings
def test_its_address_is_replaced(chunks: Chunks) -> None:
    def answer(host: str, port: int) -> bytes:
        body: dict[str, Any] = {"error_code": 0, "node_id": 3, "host": host, "port": port}
        return raw(b"\0\0\0\x01" + ConsumerMetadata.response.codec(0).encode(body))

    actor = Stage().actor()
    actor.ask(raw(struct.pack(">hhih", 10, 0, 1, 2) + b"me" + b"\0\x01g"), chunks)
    actor.answer(answer("real", 9092), chunks)
    assert actor.sent["response"] == answer("proxy", 10_003)
