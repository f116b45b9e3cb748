"""Which addresses lead to this machine, whatever can be bound on it."""

from __future__ import annotations

import socket

import pytest

from barnabas.proxy.network import this_machine
from barnabas.proxy.network.this_machine import is_local, stands_at


def outward() -> str:
    """An address of this machine by which it reaches others, if it has one. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))
        except OSError:
            pytest.skip("this machine has no network")
        return str(probe.getsockname()[0])


def test_an_address_of_another_interface_is_one_of_this_machine() -> None:
    assert is_local(outward())
    assert is_local(socket.gethostname())
    assert stands_at(("0.0.0.0", 9), (outward(), 9))
    assert not stands_at(("127.0.0.1", 9), (outward(), 9))
    assert not stands_at(("0.0.0.0", 9), (outward(), 8))


@pytest.mark.parametrize(
    "host", ["240.0.0.2", "100::2", "b1.invalid", "fe80::1%nowhere", "", "a\0b"]
)
def test_an_address_of_nobody_is_not(host: str) -> None:
    assert not is_local(host)
    assert not stands_at(("::", 9), (host, 9))


def test_where_everything_can_be_bound_routes_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(this_machine, "_binds", lambda *_: True)
    assert is_local(outward())
    assert not is_local("240.0.0.2")
