"""Clients that are sent to another coordinator: live, and again from the capture."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from barnabas.cli.app import app
from barnabas.harness import Harness
from barnabas.loop import run
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.proxy.rules.outcome import outcome
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api
from tests.proxy.frames import request, response
from tests.proxy.servers import SOON, read_frame, running

GROUP = "orders"

STEERED = """
version: 1
rules:
- name: elsewhere
  match: {{api: FindCoordinator, direction: response}}
  do: {{steer: {{coordinator: {node}}}}}
"""


class Client:
    """One blocking connection."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=SOON)
        self._file = self._socket.makefile("rb")

    def ask(self, name: str, version: int, **body: Any) -> dict[str, Any]:
        """Send a request; the decoded body of its response."""
        self._socket.sendall(request(name, 1, version=version, **body))
        size = int.from_bytes(self._file.read(4))
        return api(name).response.codec(version).decode(self._file.read(size)[4:])

    def coordinator(self) -> tuple[int, str]:
        """Node id and address of the group's coordinator."""
        found = self.ask("FindCoordinator", 1, key=GROUP)
        return found["node_id"], f"{found['host']}:{found['port']}"

    def close(self) -> None:
        self._file.close()
        self._socket.close()


def checked(capture: Path) -> str:
    """What `rehearse --check` says of a capture that decides as it did live."""
    result = CliRunner().invoke(app, ["rehearse", str(capture), "--check"])
    assert (result.exit_code, result.stdout) == (0, "")
    return str(result.stderr)


def test_a_client_reaches_the_coordinator_that_it_is_sent_to(tmp_path: Path) -> None:
    capture = tmp_path / "steered.pcapng"
    with EmbeddedCluster(3) as cluster:
        direct = Client(cluster.bootstrap.split(",")[0])
        real, _ = direct.coordinator()
        direct.close()
        other = real % 3 + 1
        steered = loads(STEERED.format(node=other))
        with Harness(cluster.bootstrap, scenario=steered, capture=capture) as proxy:
            client = Client(proxy.bootstrap)
            assert client.coordinator()[0] == real  # nothing is known of brokers yet
            client.ask("Metadata", 1, topics=[])
            node, address = client.coordinator()
            assert node == other
            assert address not in cluster.bootstrap
            there = Client(address)
            found = there.ask("Metadata", 1, topics=[])
            listeners = {
                broker["node_id"]: f"{broker['host']}:{broker['port']}"
                for broker in found["brokers"]
            }
            assert listeners[other] == address
            client.close()
            there.close()
            rule = proxy.rules.rule("elsewhere")
            assert (rule.fired, rule.unable) == (2, 1)
            assert "the address of node" in outcome(rule).what
        assert [x.broker for x in proxy.exchanges if x.api == "Metadata"] == [None, other]
    said = checked(capture)
    assert "0 of 8 decisions differ from the capture" in said
    assert "elsewhere: 2 matched, 2 fired, steer, 1 could not be done" in said


ADVERTISED = "proxy.example.org"

TOLD = """
version: 1
rules:
- name: elsewhere
  match: {api: FindCoordinator, direction: response}
  do: {steer: {coordinator: 1}}
- name: as it is told
  match: {api: FindCoordinator, direction: response}
  where: "host == 'HOST'"
  do: {delay: 1ms}
"""


@pytest.mark.parametrize("advertise", [ADVERTISED, None])
def test_a_rehearsal_has_the_addresses_that_clients_were_told(
    advertise: str | None, tmp_path: Path
) -> None:
    """Also those of brokers that no client has gone to, and whatever host is advertised."""
    text = TOLD.replace("HOST", advertise or "127.0.0.1")
    capture = tmp_path / "told.pcapng"

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_frame(reader)
        brokers = [{"node_id": n, "host": "kafka.internal", "port": 9092 + n} for n in range(2)]
        writer.write(response("Metadata", 1, brokers=brokers))
        await read_frame(reader)
        named: dict[str, Any] = {"node_id": 0, "host": "kafka.internal", "port": 9092}
        writer.write(response("FindCoordinator", 2, **named))
        await reader.read()
        writer.close()

    async def main() -> tuple[dict[str, Any], Any]:
        async with running(broker, text, capture, advertise=advertise, drain=0.1) as it:
            reader, writer = await it.connect()
            writer.write(request("Metadata", 1) + request("FindCoordinator", 2, key=GROUP))
            await asyncio.wait_for(read_frame(reader), SOON)
            frame = await asyncio.wait_for(read_frame(reader), SOON)
            writer.close()
        return api("FindCoordinator").response.codec(1).decode(frame[4:]), it.proxy

    found, proxy = run(main())
    listener = proxy.topology.nodes["broker", 1].listen
    assert (found["node_id"], found["host"]) == (1, advertise or "127.0.0.1")
    assert found["port"] == listener[1]
    assert [rule.fired for rule in proxy.rules.rules] == [1, 1]
    assert "as it is told: 1 matched, 1 fired" in checked(capture)
