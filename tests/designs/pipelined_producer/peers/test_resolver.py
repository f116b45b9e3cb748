"""Names and addresses, with lookups that wait until a test lets them go."""

from __future__ import annotations

import socket
import threading

import pytest

from barnabas.designs.pipelined_producer.peers.sockets import Endpoint, Resolver, literal, look_up
from tests.waiting import SOON

HERE = Endpoint(socket.AF_INET, ("127.0.0.1", 9))


@pytest.mark.parametrize(
    ("host", "family", "address"),
    [
        ("127.0.0.1", socket.AF_INET, ("127.0.0.1", 9)),
        ("::1", socket.AF_INET6, ("::1", 9, 0, 0)),
        ("2001:db8::7", socket.AF_INET6, ("2001:db8::7", 9, 0, 0)),
    ],
)
def test_an_address_is_what_it_says(host: str, family: int, address: object) -> None:
    assert literal(host, 9) == [Endpoint(family, address)]


@pytest.mark.parametrize("host", ["localhost", "no..host", "no\0host", "\ud800", "\u00fc" * 100])
def test_a_name_is_no_address(host: str) -> None:
    assert literal(host, 9) == []


def test_the_system_s_lookup_knows_this_machine() -> None:
    assert {one.address[0] for one in look_up("localhost", 9)} <= {"127.0.0.1", "::1"}


def test_a_slow_name_holds_up_no_other_and_is_looked_up_once() -> None:
    go_on, rung, slow, asked = threading.Event(), threading.Semaphore(0), ("slow", 9), []

    def lookup(host: str, port: int) -> list[Endpoint]:
        asked.append(host)
        if host == "slow":
            assert go_on.wait(SOON)
        return [HERE]

    resolver = Resolver(lookup, rung.release)
    resolver.ask(slow)
    resolver.ask(slow)
    resolver.ask(("quick", 9))
    assert rung.acquire(timeout=SOON)
    assert list(resolver.answers()) == [(("quick", 9), [HERE])]
    assert list(resolver.answers()) == []
    go_on.set()
    assert rung.acquire(timeout=SOON)
    assert list(resolver.answers()) == [(slow, [HERE])]
    assert sorted(asked) == ["quick", "slow"]
    resolver.ask(slow)  # it is over: now it is asked again
    assert rung.acquire(timeout=SOON)
    assert list(resolver.answers()) == [(slow, [HERE])]


def test_whatever_a_lookup_raises_there_is_no_such_host() -> None:
    rung = threading.Semaphore(0)

    def lookup(host: str, port: int) -> list[Endpoint]:
        raise KeyError(host)

    resolver = Resolver(lookup, rung.release)
    resolver.ask(("h", 9))
    assert rung.acquire(timeout=SOON)
    assert list(resolver.answers()) == [(("h", 9), [])]
