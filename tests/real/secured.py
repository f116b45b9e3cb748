"""A cluster of Apache Kafka that speaks SASL over TLS, and a proxy as its users run it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Self

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from barnabas.peers.apache import ApacheCluster

PASSWORD: Final = "plain-hunter2-alice"
SCRAM_PASSWORD: Final = "scram-hunter2-bob"
REAUTHENTICATION_MS: Final = 10_000

SOON = 90.0
"""Seconds after which what was to come is given up."""

_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def until(condition: Callable[[], Any], what: str, seconds: float = SOON) -> None:
    """Wait for a condition. Raises TimeoutError, saying what did not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not in {seconds:g} s")
        time.sleep(0.05)


def settings(ca: trustme.CA) -> dict[str, str]:
    """Of brokers with one more listener, SASL_SSL on the spare port, as 127.0.0.1 by this CA."""
    leaf = ca.issue_cert("127.0.0.1")
    key = load_pem_private_key(leaf.private_key_pem.bytes(), None)
    pkcs8 = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    plain, secured = "PLAINTEXT://127.0.0.1:{port}", "SASL_SSL://127.0.0.1:{spare_port}"
    scope = "listener.name.sasl_ssl"
    return {
        "listeners": f"{plain},CONTROLLER://127.0.0.1:{{controller_port}},{secured}",
        "advertised.listeners": f"{plain},{secured}",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        f"{scope}.plain.sasl.jaas.config": f'{_PLAIN} required user_alice="{PASSWORD}";',
        f"{scope}.scram-sha-256.sasl.jaas.config": f"{_SCRAM} required;",
        "connections.max.reauth.ms": str(REAUTHENTICATION_MS),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": leaf.cert_chain_pems[0].bytes().decode(),
        "ssl.keystore.key": pkcs8.decode(),
    }


def secured(cluster: ApacheCluster) -> str:
    """The bootstrap servers of the SASL_SSL listeners."""
    return ",".join(f"127.0.0.1:{broker.node.spare_port}" for broker in cluster.nodes.values())


class ProxyProcess:
    """`barnabas proxy` with a JSON log, on ports of the system's choice."""

    def __init__(self, bootstrap: str, data: Path, *options: str) -> None:
        self._command = [
            *(sys.executable, "-m", "barnabas", "proxy", "--bootstrap-server", bootstrap),
            *("--listen", "127.0.0.1:0", "--log", "json", *options),
        ]
        self._data = data
        self.bootstrap = ""
        self.exchanges: list[dict[str, Any]] = []
        self.lines: list[str] = []
        """What it printed: exchanges as they came, before they were parsed."""
        self.ended = ""
        """What it had said when it ended."""
        self._said = tempfile.TemporaryFile("a+")  # noqa: SIM115 - closed at the end

    @property
    def ca(self) -> Path:
        """The CA that its clients must trust."""
        return self._data / "barnabas" / "ca" / "ca.pem"

    @property
    def said(self) -> str:
        """What it printed for a person so far."""
        self._said.seek(0)
        return self._said.read()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line)
            self.exchanges.append(json.loads(line))

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            env=os.environ | {"XDG_DATA_HOME": str(self._data)},
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._process.stdout.close()
            said = self.said
            self._said.close()
            raise RuntimeError(f"the proxy did not start: {said}")
        self.bootstrap = json.loads(line)["ready"]["listen"]
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            code = self._process.wait(SOON)
        finally:
            self._process.kill()
            self._reader.join(SOON)
            said = self.ended = self.said
            self._said.close()
            assert self._process.stdout is not None
            self._process.stdout.close()
        assert kind is not None or code == 0, said
        assert "Traceback" not in said, said
