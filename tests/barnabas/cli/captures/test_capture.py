"""`barnabas capture`: what passes on loopback is in the file; without the right to, a line says so."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from pathlib import Path

from tests.barnabas.cli.test_app import BARNABAS
from tests.captures.traffic import exchanges, talk


def may_capture() -> bool:
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()
    except PermissionError:
        return False
    return True


def say(port: int, server: socket.socket) -> None:
    """A whole conversation over a real connection."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        broker, _ = server.accept()
        with broker:
            for direction, data in talk():
                ends = (client, broker) if direction == "request" else (broker, client)
                ends[0].sendall(data)
                got = b""
                while len(got) < len(data):
                    got += ends[1].recv(len(data) - len(got))


def test_what_passes_on_loopback(tmp_path: Path) -> None:
    path = tmp_path / "f.pcapng"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_server(("127.0.0.1", 0)) as other,
    ):
        port = server.getsockname()[1]
        command = [*BARNABAS, "capture", "-i", "lo", "-p", str(port), "-o", str(path)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            ready = process.stdout.readline()
            if not may_capture():
                assert process.wait(60) == 3
                assert "the right to open raw sockets" in process.stderr.read()
                return
            assert json.loads(ready)["ready"]["interface"] == "lo"
            say(other.getsockname()[1], other)
            say(port, server)
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
            assert process.wait(60) == 0
    assert "packets" in said
    assert path.stat().st_mode & 0o777 == 0o600
    found = exchanges(path)
    assert [x.correlation_id for x in found] == list(range(1, 14))
    assert sum(x.response_body is not None for x in found) == 10
