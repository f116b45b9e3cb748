"""A client program of the tests' own that takes one step after the other; none needs what an answer says.

Without an argument it ends where it does not understand an answer. `careless`: it goes on. `back`: it begins
again, on the same connection, and then goes on.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
from typing import Any

from barnabas.specs import Frame, api, decode_frame, encode_frame
from barnabas.specs.keys import FIND_COORDINATOR, LIST_OFFSETS, OFFSET_FETCH
from barnabas.specs.malformed import Malformed

STEPS = (FIND_COORDINATOR, 0), (LIST_OFFSETS, 1), (OFFSET_FETCH, 1)
MODE = sys.argv[1] if len(sys.argv) > 1 else ""


def ask(sock: socket.socket, key: int, version: int) -> bool:
    """Whether the answer to a request with nothing in it is one. Raises OSError."""
    codec = api(key).request.codec(version)
    body: Any = codec.decode(codec.encode({}))
    header = {"correlation_id": 1, "client_id": "own"}
    sock.sendall(encode_frame(Frame("request", key, version, header, body)))
    size = sock.recv(4, socket.MSG_WAITALL)
    if len(size) < 4:
        raise OSError("closed")
    data = sock.recv(struct.unpack(">i", size)[0], socket.MSG_WAITALL)
    try:
        decode_frame(data, "response", key=key, version=version)
    except Malformed:
        return False
    return True


def session(bootstrap: str) -> None:
    """Its steps."""
    host, port = bootstrap.split(":")
    steps = [*STEPS]
    with socket.create_connection((host, int(port)), 60.0) as sock:
        while steps:
            try:
                taken = ask(sock, *steps.pop(0))
            except OSError:
                return
            if not taken and MODE == "":
                return
            if not taken and MODE == "back":
                steps = [*STEPS]


def main() -> None:
    """Sessions until there are no more lines."""
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("over"):
            continue
        if asked["run"] == "consume":
            session(asked["bootstrap"])
        said: dict[str, Any] = {"records": 0, "delivered": None, "failed": [], "raised": None}
        print(json.dumps({"number": asked["number"], **said}), flush=True)


if __name__ == "__main__":
    main()
