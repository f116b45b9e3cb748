"""A client program of the tests' own, with a bug if it is told to have one.

It reads partition 0. Without an argument it takes what is right and reports what is not. `careless`: it does
not look at checksums. `shifting`: it gives the application what a batch says the offset of its first record
is, for each of them. `leaving`: it makes another connection, and reads again, where it does not understand an
answer.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Any

from barnabas.specs import Frame, decode_frame, encode_frame
from barnabas.specs.keys import FETCH
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import read

MODE = sys.argv[1] if len(sys.argv) > 1 else ""


def fetched(sock: socket.socket, offset: int) -> bytes:
    """The records of an answer. Raises Malformed, OSError."""
    place = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
    limits = {"max_wait_ms": 1, "min_bytes": 1, "max_bytes": 1 << 20}
    topics = [{"topic": "bench", "partitions": [place]}]
    body = {"replica_id": -1, **limits, "isolation_level": 0, "topics": topics}
    header = {"correlation_id": 1, "client_id": "own"}
    sock.sendall(encode_frame(Frame("request", FETCH, 4, header, body)))
    size = sock.recv(4, socket.MSG_WAITALL)
    if len(size) < 4:
        raise OSError("closed")
    data = sock.recv(struct.unpack(">i", size)[0], socket.MSG_WAITALL)
    answer = decode_frame(data, "response", key=FETCH, version=4).body
    result = (one for topic in answer["responses"] for one in topic["partitions"])
    return next((one["records"] or b"" for one in result if one["partition_index"] == 0), b"")


def delivered(data: bytes) -> Iterator[list[Any]]:
    """The records as programs tell them. Raises Malformed."""
    for batch in read(data):
        if MODE != "careless" and not batch.crc_ok:
            raise Malformed("crc", 0, "the checksum is wrong")
        for one in batch.records():
            offset = batch.base_offset if MODE == "shifting" else one.offset
            value = None if one.value is None else bytes(one.value).hex()
            yield [0, offset, -1, None, value, []]


def reads(address: tuple[str, int]) -> tuple[list[list[Any]], list[str]]:
    results: list[list[Any]] = []
    for _ in range(2):
        with socket.create_connection(address, 60.0) as sock:
            try:
                for _ in range(3):
                    offset = results[-1][1] + 1 if results else 0
                    results += delivered(fetched(sock, offset))
            except Malformed:
                if MODE != "leaving":
                    return results, ["CORRUPT"]
                continue
            except OSError:
                return results, []
            return results, []
    return results, []


def main() -> None:
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        requested = json.loads(line)
        if requested.get("over"):
            continue
        host, _, port = requested["bootstrap"].partition(":")
        results: list[list[Any]] = []
        failed: list[str] = []
        if requested["run"] == "consume":
            results, failed = reads((host, int(port)))
        lines = {"records": len(results), "delivered": results, "failed": failed, "raised": None}
        print(json.dumps({"number": requested["number"], **lines}), flush=True)


if __name__ == "__main__":
    main()
