"""How the captures beside it were made: two programs `openssl`, a relay between that writes packets.

Each has TLS 1.3 with another cipher suite, and in the middle of the talk new keys in both directions
(KeyUpdate). Python can choose neither. Run as `python -m tests.captures.tls.data.make`.
"""

from __future__ import annotations

import itertools
import selectors
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Any

from tests.captures.tls.talk import authority
from tests.captures.traffic import Said, ip_packet, segments, talk, write_pcap

HERE = Path(__file__).parent
SUITES = ("TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256")
UPDATE = b"K\n"
"""What makes openssl change its keys, and ask the other end for the same."""


class Relay:
    """Carries one connection, and remembers what passed."""

    def __init__(self, port: int) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.broker = port
        self.wire: list[Said] = []

    def start(self) -> None:
        self.client, _ = self.listener.accept()
        self.server = socket.create_connection(("127.0.0.1", self.broker))
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.client, selectors.EVENT_READ, ("request", self.server))
        self.selector.register(self.server, selectors.EVENT_READ, ("response", self.client))

    def carry(self, seconds: float) -> None:
        while ready := self.selector.select(seconds):
            for key, _ in ready:
                source: Any = key.fileobj
                data = source.recv(1 << 16)
                if not data:
                    self.selector.unregister(source)
                    continue
                self.wire.append((key.data[0], data))
                key.data[1].sendall(data)


def write(to: IO[bytes] | None, data: bytes) -> None:
    assert to is not None
    to.write(data)
    to.flush()


def make(suite: str) -> None:
    keys = HERE / f"{suite}.keys"
    keys.unlink(missing_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        leaf = Path(folder, "leaf.pem")
        authority()[1].private_key_and_cert_chain_pem.write_to_path(str(leaf))
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL}
        common = ("-tls1_3", "-ciphersuites", suite)
        served = ["openssl", "s_server", "-accept", str(port), "-cert", str(leaf), *common]
        server = subprocess.Popen(served, **pipes, stderr=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                continue
        relay = Relay(port)
        asking = ["openssl", "s_client", "-connect", f"127.0.0.1:{relay.port}", *common]
        client = subprocess.Popen(
            [*asking, "-keylogfile", str(keys)], **pipes, stderr=subprocess.DEVNULL
        )
        relay.start()
        relay.carry(1)
        said = talk()
        for at, (direction, data) in enumerate(said):
            if at == len(said) // 2:
                write(client.stdin, UPDATE)
                relay.carry(0.3)
            if at == len(said) // 2 + 4:
                write(server.stdin, UPDATE)
                relay.carry(0.3)
            write((client if direction == "request" else server).stdin, data)
            relay.carry(0.3)
        for process in (client, server):
            process.kill()
            process.wait()
    found = segments(relay.wire, itertools.repeat(1000))
    write_pcap(HERE / f"{suite}.pcap", map(ip_packet, found))


if __name__ == "__main__":
    for suite in SUITES:
        make(suite)
