"""Bytes as the kernel counts them."""

from __future__ import annotations

import socket
import sys

import pytest

from barnabas.proxy.network.tcp_info import received


def test_bytes_received_are_counted_read_or_not() -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux counts them")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        one = socket.create_connection(listener.getsockname())
        other, _ = listener.accept()
        with one, other:
            assert (received(one), received(other)) == (0, 0)
            one.sendall(bytes(1000))
            other.recv(1000, socket.MSG_WAITALL)
            one.sendall(bytes(500))
            other.recv(500, socket.MSG_WAITALL | socket.MSG_PEEK)
            assert (received(one), received(other)) == (0, 1500)
            one.shutdown(socket.SHUT_WR)
            assert len(other.recv(500, socket.MSG_WAITALL)) == 500
            assert other.recv(1) == b""
            assert (received(one), received(other)) == (0, 1501), "the end is one"
        assert received(other) == received(None) == 0, "closed"
