"""The bench's broker as a process: `python -m fuzz.bench_broker.process`, on a port that the system chooses.

Each connection has its own broker, so that no response depends on another connection's requests. The process
prints its address and serves until stdin ends. A request that it can't answer closes the connection.
"""

from __future__ import annotations

import asyncio
import os
import sys

from barnabas.fuzz.bench_broker.broker import Broker, Connection
from barnabas.fuzz.bench_broker.cluster import Cluster


async def _serve() -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = writer.get_extra_info("sockname")[:2]
        connection = Connection(Broker(Cluster(host, port)))
        try:
            while data := await reader.read(1 << 16):
                replies = connection.receive(data)
                for reply in replies:
                    writer.write(b"".join(reply.chunks))
                await writer.drain()
                if any(reply.closes for reply in replies):
                    break
        except (OSError, LookupError, ValueError, TypeError):
            pass  # a broker may close the connection after any request
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    print(f"{host}:{port}", flush=True)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), _read, ended)
    await ended.wait()
    server.close()


def _read(ended: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 1 << 12):
        ended.set()


if __name__ == "__main__":
    asyncio.run(_serve())
