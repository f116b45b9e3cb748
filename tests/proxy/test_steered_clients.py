"""Clients that are sent to another coordinator: live, and again from the capture."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from barnabas.cli.app import app
from barnabas.loop import run
from barnabas.specs import api
from tests.proxy.frames import request, response
from tests.proxy.servers import SOON, read_frame, running

FOUND = "{api: FindCoordinator, direction: response}"
TOLD = f"""
version: 1
rules:
- {{name: elsewhere, match: {FOUND}, do: {{steer: {{coordinator: 1}}}}}}
- {{name: as it is told, match: {FOUND}, where: "host == 'HOST'", do: {{delay: 1ms}}}}
"""


@pytest.mark.parametrize("advertise", ["proxy.example.org", None])
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
            writer.write(request("Metadata", 1) + request("FindCoordinator", 2, key="orders"))
            await asyncio.wait_for(read_frame(reader), SOON)
            frame = await asyncio.wait_for(read_frame(reader), SOON)
            writer.close()
        return api("FindCoordinator").response.codec(1).decode(frame[4:]), it.proxy

    found, proxy = run(main())
    listener = proxy.topology.nodes["broker", 1].listen
    assert (found["node_id"], found["host"]) == (1, advertise or "127.0.0.1")
    assert found["port"] == listener[1]
    assert [rule.fired for rule in proxy.rules.rules] == [1, 1]
    checked = CliRunner().invoke(app, ["rehearse", str(capture), "--check"])
    assert (checked.exit_code, checked.stdout) == (0, "")
    assert "as it is told: 1 matched, 1 fired" in checked.stderr
