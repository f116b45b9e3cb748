"""The broker of a recording: how long its answers take."""

from __future__ import annotations

import asyncio
import dataclasses
import struct
from typing import Any, cast

import pytest

from barnabas.peers.recorded.broker import LONGEST, RecordedBroker
from tests.peers.recorded.test_answers import commit, recorded


class Written:
    """What a client would get."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    async def drain(self) -> None:
        pass


@pytest.mark.parametrize(
    ("broker_ms", "speed", "waits"),
    [(100.0, 1.0, [0.1]), (100.0, 4.0, [0.025]), (100.0, 0.0, []), (2 * LONGEST, 1.0, [30.0])],
)
async def test_an_answer_takes_as_long_as_it_did_or_so_much_less(
    broker_ms: float, speed: float, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    one = dataclasses.replace(recorded(commit(5)), broker_ms=broker_ms)
    broker = RecordedBroker([one], speed=speed)
    frame = struct.pack(">hhih", 8, 2, 7, -1) + commit(5)
    reader, writer = asyncio.StreamReader(), Written()
    reader.feed_data(struct.pack(">i", len(frame)) + frame)
    assert await broker._turn(1, reader, cast(Any, writer))
    assert slept == waits
    assert writer.data == struct.pack(">ii", 4, 7)
