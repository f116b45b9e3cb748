"""Ports for tests: where they are, and whose."""

from __future__ import annotations

import socket
import subprocess
import sys

from tests.places import ROOT
from tests.ports import BLOCK, HOST, ephemeral_start, free_port, free_ports

OTHER = "from tests.ports import free_port; print(free_port())"


def test_rows_are_consecutive_below_the_ephemeral_range_and_differ() -> None:
    rows = [free_ports(7) for _ in range(5)]
    ports = [port for row in rows for port in row]
    assert len(set(ports)) == len(ports)
    assert max(ports) < ephemeral_start()


def test_no_ports_are_an_empty_row() -> None:
    assert list(free_ports(0)) == []


def test_a_port_in_use_is_left_out() -> None:
    port = free_port()
    with socket.create_server((HOST, port)):
        assert port not in {free_port() for _ in range(2 * BLOCK)}


def test_another_process_has_other_ports() -> None:
    port = free_port()
    other = subprocess.check_output([sys.executable, "-c", OTHER], cwd=ROOT, text=True)
    assert port // BLOCK != int(other) // BLOCK
