"""`barnabas proxy` at its end, as a process: what is under way finishes, and nothing is lost."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from tests.barnabas.cli.test_app import started
from tests.proxy.frames import request
from tests.remaining import remaining

pytestmark = pytest.mark.slow("a proxy in a process of its own for each")

PATIENCE = 60.0


def scenario(folder: Path, held: str) -> Path:
    file = folder / "held.yaml"
    file.write_text(
        "version: 1\nrules:\n  - name: held\n    match: {api: Metadata, direction: response}\n"
        f"    do: {{hold: {{until: {{api: JoinGroup}}, at_most: {held}}}}}\n"
    )
    return file


def arguments(bootstrap: str, folder: Path, held: str) -> tuple[str, ...]:
    files = ("--scenario", str(scenario(folder, held)), "--capture", str(folder / "c.pcapng"))
    return ("proxy", "-b", bootstrap, "--listen", "127.0.0.1:0", "--log", "json", *files)


def connect(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def frame(sock: socket.socket) -> bytes:
    with sock.makefile("rb") as file:
        return file.read(int.from_bytes(file.read(4)))


def until_said(process: subprocess.Popen[str], text: str) -> None:
    """Read its stderr up to a line with this text."""
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"it never said {text!r}")


def captured(folder: Path) -> list[Exchange]:
    reader = CaptureReader(folder / "c.pcapng")
    found = list(Conversations().exchanges(reader))
    assert not reader.truncated
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_held_response_still_arrives_and_new_connections_are_refused(
    bootstrap: str, tmp_path: Path, number: signal.Signals
) -> None:
    with started(*arguments(bootstrap, tmp_path, "1500ms")) as (process, ready):
        with connect(ready["listen"]) as client:
            client.sendall(request("ApiVersions", 1, version=0) + request("Metadata", 2))
            assert frame(client)[:4] == b"\0\0\0\x01"  # so both are on their way
            process.send_signal(number)
            until_said(process, "stopping: 1 connection to drain")
            with pytest.raises(ConnectionRefusedError):
                connect(ready["listen"])
            assert frame(client)[:4] == b"\0\0\0\x02"
            assert client.recv(1) == b""
        out, errors = remaining(process, PATIENCE)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    live = [json.loads(line) for line in out.splitlines()]
    assert [(x["api"], x["rules"]) for x in live] == [("ApiVersions", []), ("Metadata", ["held"])]
    assert live[1]["latency_ms"] >= 1500
    kept = [(x.api, round(x.latency_ms or 0, 3)) for x in captured(tmp_path)]
    assert kept == [(x["api"], x["latency_ms"]) for x in live]


def test_what_does_not_finish_in_time_is_closed_and_accounted_for(
    bootstrap: str, tmp_path: Path
) -> None:
    with started(*arguments(bootstrap, tmp_path, "60s")) as (process, ready):
        with connect(ready["listen"]) as client:
            client.sendall(request("ApiVersions", 1, version=0) + request("Metadata", 2))
            frame(client)
            process.send_signal(signal.SIGTERM)
            assert client.recv(1) == b""
        out, errors = remaining(process, PATIENCE)
    assert process.returncode == 0, errors
    assert "closed with 1 frame not forwarded" in errors
    assert [json.loads(line)["latency_ms"] for line in out.splitlines()][1] is None
    assert captured(tmp_path)[1].note == "response not forwarded: connection closed"


def test_a_second_ctrl_c_stops_at_once(bootstrap: str, tmp_path: Path) -> None:
    with (
        started(*arguments(bootstrap, tmp_path, "60s"), "--drain", "60s") as (process, ready),
        connect(ready["listen"]) as client,
    ):
        client.sendall(request("ApiVersions", 1, version=0) + request("Metadata", 2))
        frame(client)
        process.send_signal(signal.SIGINT)
        until_said(process, "Ctrl-C again stops at once")
        before = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, errors = remaining(process, PATIENCE)
        assert time.monotonic() - before < 30  # it would drain for a minute
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert [json.loads(line)["api"] for line in out.splitlines()] == ["ApiVersions", "Metadata"]
    assert "1 connection\n" in errors
    assert "capture: " in errors
    assert [x.api for x in captured(tmp_path)] == ["ApiVersions", "Metadata"]


def test_who_goes_on_to_interrupt_it_is_told_all_the_same(bootstrap: str, tmp_path: Path) -> None:
    with started(*arguments(bootstrap, tmp_path, "60s")) as (process, ready):
        with connect(ready["listen"]) as client:
            client.sendall(request("ApiVersions", 1, version=0) + request("Metadata", 2))
            frame(client)
            while process.poll() is None:
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.005)
        _, errors = remaining(process, PATIENCE)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert any(line.startswith("capture: ") for line in errors.splitlines()), errors
