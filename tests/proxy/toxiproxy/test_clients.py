"""Toxiproxy's clients as they are, with barnabas as the server."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.proxy.toxiproxy.processes import ask, barnabas, installed
from tests.proxy.toxiproxy.test_differential_streams import DATA, Seen, seen, upstream

pytestmark = pytest.mark.slow("starts the command line")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with barnabas("--log", "off") as ours:
        yield ours["port"]


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    with upstream() as found:
        yield f"127.0.0.1:{found}"


def through(listen: str) -> Seen:
    host, _, number = listen.rpartition(":")
    with socket.create_connection((host, int(number)), 5) as client:
        began = time.monotonic()
        client.sendall(DATA + b".")
        return seen(client, began)


def test_the_client_in_python(port: int, echo: str) -> None:
    toxiproxy: Any = pytest.importorskip("toxiproxy")
    problems: Any = pytest.importorskip("toxiproxy.exceptions")
    server = toxiproxy.Toxiproxy()
    server.update_api_consumer("127.0.0.1", port)
    assert server.running()
    assert json.loads(server.version()) == {"version": "2.12.0"}
    proxy = server.create(upstream=echo, name="python")
    assert through(proxy.listen).data == DATA + b"."
    with pytest.raises(problems.ProxyExists):
        server.create(upstream=echo, name="python")
    proxy.add_toxic(type="latency", attributes={"latency": 200, "jitter": 10})
    assert proxy.get_toxic("latency_downstream").attributes == {"latency": 200, "jitter": 10}
    assert through(proxy.listen).seconds >= 0.19
    with pytest.raises(problems.InvalidToxic):
        proxy.add_toxic(type="nothing")
    proxy.destroy_toxic("latency_downstream")
    with pytest.raises(problems.NotFound):
        proxy.destroy_toxic("latency_downstream")
    with proxy.down(), pytest.raises(ConnectionRefusedError):
        through(proxy.listen)
    assert through(proxy.listen).data == DATA + b"."
    proxy.add_toxic(type="timeout", stream="upstream", attributes={"timeout": 1})
    proxy.disable()
    server.reset()
    assert server.get_proxy("python").enabled
    assert through(proxy.listen).data == DATA + b"."
    server.populate([{"name": "two", "upstream": echo, "listen": "127.0.0.1:0"}])
    assert set(server.proxies()) == {"python", "two"}
    server.destroy_all()
    assert server.proxies() == {}


def test_toxiproxy_cli(port: int, echo: str, tmp_path: Path) -> None:
    program = installed(tmp_path, "cli")

    def cli(*arguments: str) -> str:
        command = [program, "-host", f"http://127.0.0.1:{port}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    cli("create", "-l", "127.0.0.1:0", "-u", echo, "one")
    assert "one" in cli("list")
    cli("toxic", "add", "-t", "latency", "-a", "latency=200", "--tox", "1", "one")
    assert "latency_downstream" in cli("inspect", "one")
    listen = json.loads(ask(port, "GET", "/proxies/one").body)["listen"]
    assert through(listen).seconds >= 0.2
    cli("toxic", "update", "-n", "latency_downstream", "-a", "latency=1", "one")
    assert through(listen).seconds < 0.2
    cli("toxic", "remove", "-n", "latency_downstream", "one")
    cli("toggle", "one")
    with pytest.raises(ConnectionRefusedError):
        through(listen)
    cli("delete", "one")
