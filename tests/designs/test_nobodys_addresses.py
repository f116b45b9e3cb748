"""Peers that are told an address which nobody has: it is one that can't be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from barnabas.captures.host_port import possible
from barnabas.designs.protocol_guide.client_0_8.client import Connection
from barnabas.peers.replay.connection import LiveConnection

Address = tuple[str, int]


def live(address: Address) -> None:
    asyncio.run(LiveConnection.open(address))


def blocking(address: Address) -> None:
    Connection(address, "me", 1.0)


@pytest.mark.parametrize("reach", [live, blocking, possible])
@pytest.mark.parametrize(
    "address", [("a..b", 1), ("x" * 255, 1), ("\ufffd", 1), ("127.0.0.1", 70000), ("127.0.0.1", -1)]
)
def test_it_is_no_other_error_than_that_of_a_broker_that_is_gone(
    reach: Callable[[Address], object], address: Address
) -> None:
    with pytest.raises(OSError, match=r"not a valid host name|is not a port"):
        reach(address)
