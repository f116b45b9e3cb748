"""Options that would cost a file or run in a circle are refused before anything is touched."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from barnabas.cli.proxy.option_conflicts import refuse_circle, refuse_overwriting
from barnabas.trouble import Trouble


def test_files_that_are_written_are_not_one() -> None:
    written = {"--capture": Path("x"), "--control-token-file": Path("x")}
    with pytest.raises(
        Trouble, match="--capture x would overwrite the file of --control-token-file"
    ):
        refuse_overwriting(written, {})
    refuse_overwriting({"--capture": Path("x"), "--control-token-file": None}, {"--scenario": None})


@pytest.mark.parametrize(
    ("listen", "server"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "localhost"),
        ("127.0.0.1", "0.0.0.0"),
        ("127.0.0.1", "127.1"),  # which only a resolver reads
        ("0.0.0.0", "127.0.0.2"),
        ("0.0.0.0", socket.gethostname()),
        ("::", "localhost"),
        ("::1", "::"),
        ("10.0.0.1", "kafka.test"),
    ],
)
def test_a_proxy_does_not_connect_to_itself(listen: str, server: str) -> None:
    servers = [("b1", 9092), (server, 9092)]
    with pytest.raises(Trouble, match="the proxy would connect to itself; choose another --listen"):
        refuse_circle((listen, 9092), servers, "kafka.test")
    refuse_circle((listen, 9093), servers, "kafka.test")


@pytest.mark.parametrize("listen", ["127.0.0.1", "192.0.2.1"])
def test_brokers_may_have_its_port_elsewhere(listen: str) -> None:
    refuse_circle((listen, 9092), [("127.0.0.2", 9092), ("b1", 9092)])
