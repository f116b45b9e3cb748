"""barnabas in toxiproxy's place, and toxiproxy itself, as processes of their own."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import go
from tests.ports import free_port

MODULE = "github.com/Shopify/toxiproxy/v2"
VERSION = "2.12.0"
SOON = 30.0


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: str


def ask(
    port: int, method: str, path: str, body: bytes | None = None, agent: str = "test"
) -> Answer:
    """Return a server's response with its relevant headers, without request numbers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SOON)
    try:
        connection.request(method, path, body=body, headers={"User-Agent": agent})
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        kept = {
            name: "" if "request-id" in name else value
            for name, value in headers.items()
            if name not in ("date", "content-length", "transfer-encoding", "connection")
        }
        return Answer(answer.status, kept, answer.read().decode())
    finally:
        connection.close()


@contextmanager
def barnabas(*arguments: str) -> Iterator[dict[str, Any]]:
    """`barnabas proxy --toxiproxy`; its ready line, and its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "barnabas", "proxy", "--toxiproxy", "127.0.0.1:0", *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        while "ready" not in (line := process.stdout.readline()):
            assert line, "it ended"
        ready = json.loads(line)["ready"]
        yield {**ready, "port": int(ready["toxiproxy"].rpartition(":")[2])}
        process.send_signal(signal.SIGINT)
        assert process.wait(SOON) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextmanager
def toxiproxy(folder: Path) -> Iterator[int]:
    """Run toxiproxy's own server, built by Go, and yield its port."""
    version = f"-X {MODULE}.Version={VERSION}"
    build(["install", "-ldflags", version, f"{MODULE}/cmd/server@v{VERSION}"], folder)
    port = free_port()
    process = subprocess.Popen([folder / "server", "-port", str(port)], stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + SOON
        while True:
            try:
                ask(port, "GET", "/version")
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.05)
        yield port
    finally:
        process.kill()
        process.wait()


def build(arguments: list[str], folder: Path) -> None:
    """Have Go put something into a folder, or into its cache; skips the test where that can't be."""
    done = go_run(arguments, bin=folder)
    if re.search(r"dial tcp|no such host|i/o timeout|proxyconnect", done.stderr):
        pytest.skip(f"Go's modules is unavailable: {done.stderr[-200:]}")
    assert not done.returncode, done.stderr


def go_run(
    arguments: list[str], within: Path | None = None, bin: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Go and return its output; skip the test without Go."""
    try:
        program = go()
    except UnavailableClientError as problem:
        pytest.skip(str(problem))
    environment = {**os.environ, "GOWORK": "off", "GOFLAGS": "-mod=mod -p=2"}
    if bin is not None:
        environment["GOBIN"] = str(bin)
    command = [program, *arguments]
    return subprocess.run(command, cwd=within, env=environment, capture_output=True, text=True)


def placed(text: str, ports: Mapping[str, int]) -> str:
    """Return a text with ports in place of their names, such as `{a}`."""
    for name, port in ports.items():
        text = text.replace(f"{{{name}}}", str(port))
    return text


def unplaced(text: str, ports: Mapping[str, int]) -> str:
    """Return a text with names in place of ports, and without ports that the system chose."""
    for name, port in ports.items():
        text = text.replace(str(port), f"{{{name}}}")
    return re.sub(r":\d{5}\b", ":port", text)
