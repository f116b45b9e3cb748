"""A disk that hangs under a capture, without workers: traffic goes on."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk
from barnabas.captures.writing.sink import Sink
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.loop import run
from tests.proxy.frames import request
from tests.proxy.servers import SOON, echo_metadata, read_frame, running


def test_a_write_that_hangs_stops_nobody(tmp_path: Path) -> None:
    hangs, hung = threading.Event(), threading.Event()

    def writev(file: int, buffers: Sequence[Buffer]) -> int:
        if hung.is_set():
            hangs.set()
            assert released.wait(SOON), "the loop waits for the disk"
        return os.writev(file, buffers)

    released = threading.Event()
    sink = functools.partial(Sink, writev=writev)
    writer = CaptureWriter(tmp_path / "f", limit=None, meta={}, sink=sink)
    hung.set()

    async def main() -> None:
        async with running(echo_metadata, capture=writer) as it:
            reader, client = await it.connect()
            for number in range(3):
                client.write(request("Metadata", number))
                await asyncio.wait_for(read_frame(reader), SOON)
                await it.until(hangs.is_set)
            client.close()
            await it.until(lambda: not it.proxy.relays)
            released.set()

    run(main())
    chunks = [each for each in CaptureReader(tmp_path / "f") if isinstance(each, Chunk)]
    assert sum(each.flow == "arrived" and each.direction == "request" for each in chunks) == 3
    assert writer.stats.lost_packets == 0
