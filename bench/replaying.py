"""How fast a capture is replayed into a sink: `barnabas replay --speed max`, a process as users start it.

The sink is a process that answers Produce without looking at the records. Idempotent: its producer id is
another one than the recorded, so each batch is changed and has its checksum made anew.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from barnabas.addresses import parse_servers
from barnabas.harness import Harness
from barnabas.peers.replay.connection import LiveConnection
from barnabas.proxy.network.options import Options
from barnabas.specs import records
from barnabas.specs.frames import request_head
from barnabas.specs.headers import RESPONSE_HEADER, response_header_version
from barnabas.specs.records import Record
from barnabas.specs.registry import api, key_of
from bench.table import percentile, plain_table

MIB: Final = 1 << 20
REQUESTS: Final = 800
UNDER_WAY: Final = 5
RECORDS: Final = 500
VALUE: Final = 1000
"""Requests of half a MiB, five under way, as producers send them under load."""

API_VERSIONS, METADATA, PRODUCE, INIT_PRODUCER_ID = map(
    key_of, ("ApiVersions", "Metadata", "Produce", "InitProducerId")
)
VERSIONS: Final = {API_VERSIONS: 0, METADATA: 9, PRODUCE: 9, INIT_PRODUCER_ID: 4}


@dataclass(slots=True)
class Way:
    """A capture to replay, and the bytes of requests per second of each round."""

    name: str
    idempotent: bool
    speeds: list[float] = field(default_factory=list)


def sink(pipe: Connection, producer_id: int) -> None:
    """Run the process of a broker that stores nothing."""
    asyncio.run(_sink(pipe, producer_id))


async def _sink(pipe: Connection, producer_id: int) -> None:
    address: tuple[str, int] = "127.0.0.1", 0

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(4))
                data = await reader.readexactly(size)
                head = request_head(data, 0, size)
                body = _answer(head.key, address, producer_id)
                version = response_header_version(head.key, head.version)
                header = RESPONSE_HEADER.codec(version).encode(
                    {"correlation_id": head.correlation_id}
                )
                answer = header + api(head.key).response.codec(head.version).encode(body)
                writer.write(len(answer).to_bytes(4) + answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(accept, *address, limit=4 * MIB)
    address = server.sockets[0].getsockname()[:2]
    pipe.send(address[1])
    await server.serve_forever()


def _answer(key: int, address: tuple[str, int], producer_id: int) -> dict[str, Any]:
    if key == API_VERSIONS:
        ranges = [
            {"api_key": row, "min_version": version, "max_version": version}
            for row, version in VERSIONS.items()
        ]
        return {"api_keys": ranges}
    if key == METADATA:
        partition = {"partition_index": 0, "leader_id": 1}
        return {
            "brokers": [{"node_id": 1, "host": address[0], "port": address[1]}],
            "topics": [{"name": "t", "partitions": [partition]}],
        }
    if key == INIT_PRODUCER_ID:
        return {"producer_id": producer_id, "producer_epoch": 0}
    partition = {"index": 0, "base_offset": 0}
    return {"responses": [{"name": "t", "partition_responses": [partition]}]}


class Sink:
    """A context manager that runs a broker which stores nothing."""

    def __init__(self, producer_id: int) -> None:
        ours, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(
            target=sink, args=(theirs, producer_id), daemon=True
        )
        self._pipe = ours

    def __enter__(self) -> str:
        self._process.start()
        return f"127.0.0.1:{self._pipe.recv()}"

    def __exit__(self, *problem: object) -> None:
        self._process.terminate()
        self._process.join()


def record(path: Path, *, idempotent: bool, requests: int = REQUESTS) -> int:
    """Make a capture of a producer; the bytes of its record batches."""
    with (
        Sink(1000) as bootstrap,
        Harness(Options(parse_servers(bootstrap), observed=False), capture=path) as proxy,
    ):
        return asyncio.run(_produce(proxy.proxy.address, idempotent=idempotent, requests=requests))


async def _produce(address: tuple[str, int], *, idempotent: bool, requests: int) -> int:
    connection = await LiveConnection.open(address)
    if idempotent:
        body = api(INIT_PRODUCER_ID).request.codec(4).encode({"transactional_id": None})
        answer = connection.send(INIT_PRODUCER_ID, 4, "bench", body)
        assert answer is not None
        await answer
    results = [Record(number, 1, None, os.urandom(VALUE)) for number in range(RECORDS)]
    total = 0
    waiting: list[asyncio.Future[bytes]] = []
    for number in range(requests):
        batch = records.build(
            results,
            producer_id=1000 if idempotent else -1,
            producer_epoch=0 if idempotent else -1,
            base_sequence=number * RECORDS if idempotent else -1,
        )
        total += len(batch)
        topic = {"name": "t", "partition_data": [{"index": 0, "records": batch}]}
        body = api(PRODUCE).request.codec(9).encode({"acks": -1, "topic_data": [topic]})
        answer = connection.send(PRODUCE, 9, "bench", body)
        assert answer is not None
        waiting.append(answer)
        await connection.drain()
        if len(waiting) == UNDER_WAY:
            await waiting.pop(0)
    await asyncio.gather(*waiting)
    await connection.close()
    return total


def replay(path: Path, bootstrap: str) -> float:
    """Seconds that the process took, its start included."""
    command = [sys.executable, "-m", "barnabas", "replay", str(path), "-b", bootstrap]
    began = time.perf_counter()
    results = subprocess.run(
        [*command, "--speed", "max"], capture_output=True, text=True, timeout=300
    )
    if results.returncode:
        raise RuntimeError(f"the replay failed: {results.stdout}{results.stderr}")
    return time.perf_counter() - began


def measure(rounds: int, status: Callable[[str], object]) -> list[Way]:
    """Record once for each way, replay it in interleaved rounds."""
    ways = [Way("records as they are", False), Way("another producer id, checksums anew", True)]
    with tempfile.TemporaryDirectory() as folder, Sink(7) as bootstrap:
        paths = [Path(folder) / f"{number}.pcapng" for number in range(len(ways))]
        sizes = [
            record(path, idempotent=contestant.idempotent)
            for contestant, path in zip(ways, paths, strict=True)
        ]
        for number in range(rounds):
            for contestant, path, size in zip(ways, paths, sizes, strict=True):
                status(f"replay: {contestant.name}, round {number + 1} of {rounds}")
                contestant.speeds.append(size / replay(path, bootstrap))
    return ways


def table(ways: list[Way]) -> Table:
    """Medians."""
    results = plain_table("Replay into a sink, as fast as it goes; start of the process included")
    results.add_column("records")
    results.add_column("MB/s", justify="right")
    for contestant in ways:
        results.add_row(contestant.name, f"{percentile(contestant.speeds, 50) / 1e6:.0f}")
    return results
