"""The same toxics in toxiproxy's own server and in barnabas: clients see the same, about as late."""

from __future__ import annotations

import json
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.proxy.toxiproxy.processes import ask, barnabas, toxiproxy

DATA = b"*1\r\n$4\r\nPING\r\n" * 3

LATE = 0.15
"""Seconds by which they may differ."""
TRIES = 3
"""How often they are compared: a pause of the machine makes either late once, a difference stays."""


class Seen(NamedTuple):
    data: bytes
    end: str
    """eof, reset, or open: nothing came for a while."""
    seconds: float


class _Echo(socketserver.BaseRequestHandler):
    """Sends back what comes; closes behind a `.`."""

    def handle(self) -> None:
        try:
            while data := self.request.recv(1 << 16):
                self.request.sendall(data)
                if data.endswith(b"."):
                    return
        except ConnectionError:
            pass


class _Upstream(socketserver.ThreadingTCPServer):
    daemon_threads = True


@contextmanager
def upstream() -> Iterator[int]:
    with _Upstream(("127.0.0.1", 0), _Echo) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def toxic(
    type_: str, stream: str = "downstream", /, toxicity: float = 1, **attributes: Any
) -> bytes:
    given = {"name": f"{type_}{stream}", "type": type_, "stream": stream}
    return json.dumps({**given, "toxicity": toxicity, "attributes": attributes}).encode()


def seen(client: socket.socket, began: float, patience: float = 1.0) -> Seen:
    client.settimeout(patience)
    data = b""
    try:
        while chunk := client.recv(1 << 16):
            data += chunk
    except TimeoutError:
        return Seen(data, "open", 0)
    except ConnectionResetError:
        return Seen(data, "reset", time.monotonic() - began)
    return Seen(data, "eof", time.monotonic() - began)


CASES: dict[str, tuple[list[bytes], bytes]] = {
    "nothing": ([], DATA + b"."),
    "latency": ([toxic("latency", latency=300)], DATA + b"."),
    "latency up": ([toxic("latency", "upstream", latency=300)], DATA + b"."),
    "latency both": ([toxic("latency", latency=200), toxic("latency", "upstream", latency=200)], DATA + b"."),
    "latency less than its jitter": ([toxic("latency", latency=1, jitter=2)], DATA + b"."),
    "negative latency": ([toxic("latency", latency=-5)], DATA + b"."),
    "bandwidth": ([toxic("bandwidth", rate=100)], DATA * 1000 + b"."),
    "bandwidth up": ([toxic("bandwidth", "upstream", rate=100)], DATA * 1000 + b"."),
    "bandwidth of 0": ([toxic("bandwidth", rate=0)], DATA + b"."),
    "slow close": ([toxic("slow_close", delay=400)], DATA + b"."),
    "slow close up": ([toxic("slow_close", "upstream", delay=400)], DATA + b"."),
    "timeout": ([toxic("timeout", timeout=300)], DATA),
    "timeout up": ([toxic("timeout", "upstream", timeout=300)], DATA),
    "timeout of 0": ([toxic("timeout", timeout=0)], DATA),
    "timeout without data": ([toxic("timeout", timeout=300)], b""),
    "reset": ([toxic("reset_peer", timeout=300)], DATA),
    "reset at once": ([toxic("reset_peer", timeout=0)], DATA),
    "reset up": ([toxic("reset_peer", "upstream", timeout=300)], DATA),
    "limit": ([toxic("limit_data", bytes=20)], DATA),
    "limit up": ([toxic("limit_data", "upstream", bytes=20)], DATA),
    "limit of 0": ([toxic("limit_data", bytes=0)], DATA),
    "limit is what there is": ([toxic("limit_data", bytes=len(DATA))], DATA),
    "slicer": ([toxic("slicer", average_size=10, size_variation=3, delay=20000)], DATA + b"."),
    "limit, then late": ([toxic("limit_data", bytes=20), toxic("latency", latency=200)], DATA),
    "limit, then slow": ([toxic("limit_data", bytes=20), toxic("slow_close", delay=300)], DATA),
    "late, then limit": ([toxic("latency", latency=200), toxic("limit_data", bytes=20)], DATA),
    "no toxicity": ([toxic("timeout", toxicity=0, timeout=1)], DATA + b"."),
    "noop": ([toxic("noop")], DATA + b"."),
}  # fmt: skip


RESET = ("reset", "reset up", "reset at once")
"""Toxiproxy resets connections that were opened under the toxic, and closes others; barnabas resets all."""


def run_case(server: int, port: int, name: str, *, before: bool) -> Seen:
    """before: whether the toxics are there before the connection."""
    toxics, data = CASES[name]
    given = {"name": "one", "listen": "127.0.0.1:0", "upstream": f"127.0.0.1:{port}"}
    made = json.loads(ask(server, "POST", "/proxies", json.dumps(given).encode()).body)
    where = made["listen"].rpartition(":")[2]
    if before:
        for one in toxics:
            assert ask(server, "POST", "/proxies/one/toxics", one).status == 200
    with socket.create_connection(("127.0.0.1", int(where)), 5) as client:
        if not before:
            client.sendall(b"a")
            assert client.recv(1) == b"a"
            for one in toxics:
                assert ask(server, "POST", "/proxies/one/toxics", one).status == 200
        began = time.monotonic()
        client.sendall(data)
        found = seen(client, began)
        if found.end == "open":  # and what becomes of it without toxics
            for one in json.loads(ask(server, "GET", "/proxies/one/toxics").body):
                ask(server, "DELETE", f"/proxies/one/toxics/{one['name']}")
            rest = seen(client, began)
            found = Seen(found.data + rest.data, f"open, {rest.end}", 0)
    assert ask(server, "DELETE", "/proxies/one").status == 204
    return found


@pytest.mark.alone
@pytest.mark.slow("builds toxiproxy's server with Go")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("before", [True, False], ids=["before", "on an open connection"])
def test_clients_see_the_same(tmp_path: Path, before: bool) -> None:
    differ = {}
    with toxiproxy(tmp_path) as theirs, barnabas("--log", "off") as ours, upstream() as port:
        for name in CASES:
            for _ in range(TRIES):
                wanted = run_case(theirs, port, name, before=before)
                found = run_case(ours["port"], port, name, before=before)
                late = abs(wanted.seconds - found.seconds)
                if name in RESET and not before:
                    assert found.end == "reset"
                    break
                if wanted[:2] == found[:2] and late <= LATE + wanted.seconds / 5:
                    break
            else:
                differ[name] = wanted, found
    assert not differ
