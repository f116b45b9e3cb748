"""`barnabas proxy --tls-passthrough` as a process, and its misuse."""

from __future__ import annotations

import signal
import socket

import pytest

from tests.barnabas.cli.test_app import started


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_listener_for_each_broker_until_it_is_ended(number: int) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        brokers = ",".join(f"127.0.0.1:{each.getsockname()[1]}" for each in (one, two))
        ends = ("--listen", "127.0.0.1:0,127.0.0.1:0")
        with started("proxy", "--tls-passthrough", "-b", brokers, *ends) as (process, ready):
            for listener, broker, text in zip(
                ready["listeners"], (one, two), (b"a", b"b"), strict=True
            ):
                host, port = listener.split(":")
                with socket.create_connection((host, int(port)), 60) as client:
                    client.sendall(text)
                    there, _ = broker.accept()
                    with there:
                        assert there.recv(10) == text
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "2 connections; 2 bytes from clients, 0 from brokers" in said
    assert "Traceback" not in said
