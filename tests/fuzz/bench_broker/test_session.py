"""The sockets of a session, on loopback: a client made of one blocking socket beside it."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from barnabas.fuzz.bench_broker.broker import Broker
from barnabas.fuzz.bench_broker.planted import PlantedResponse
from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.bench_broker.session import LINGERING, Session
from barnabas.fuzz.cases.case import Case, Delivery, Recipe
from barnabas.specs import keys
from tests.fuzz.observed import request

REQUEST = request(keys.METADATA, 1, {"topics": None})
NEVER = 3600.0


def _broker(delivery: Delivery, *chunks: bytes, repeats: bool = False) -> Broker:
    seed, *_ = seeds([(keys.METADATA, 1)])
    case = Case(0, Recipe(seed, ()), chunks, (), delivery)
    return Broker(planted=PlantedResponse(case, keys.METADATA, 1, repeats=repeats))


@contextmanager
def _session(
    broker: Broker, timeout: float, clock: Callable[[], float] = time.monotonic
) -> Iterator[tuple[Session, selectors.BaseSelector]]:
    with selectors.DefaultSelector() as selector:
        session = Session(selector, broker, clock, timeout)
        try:
            yield session, selector
        finally:
            session.close()
            assert not selector.get_map()


def _conversation(broker: Broker, *, reads: int = 1 << 20) -> bytes:
    """What a client that asks once is told until the end, or until it has so many bytes."""
    got = bytearray()
    with _session(broker, NEVER) as (session, selector):
        host, _, port = session.bootstrap.partition(":")

        def ask() -> None:
            with socket.create_connection((host, int(port)), timeout=60) as sock:
                sock.sendall(REQUEST)
                while len(got) < reads and (data := sock.recv(1 << 16)):
                    got.extend(data)

        client = threading.Thread(target=ask)
        client.start()
        while client.is_alive():
            session.tick()
            for key, events in selector.select(0.01):
                key.data(events)
        client.join()
    return bytes(got)


@pytest.mark.parametrize("delivery", ["whole", "bytewise", "burst", "more than fits"])
def test_every_byte_of_a_case_arrives(delivery: Any) -> None:
    chunks = (bytes(range(256)) * 20, b"the end")
    if delivery == "more than fits":
        delivery, chunks = "whole", (bytes(8 << 20), b"the end")
    size = sum(map(len, chunks))
    assert _conversation(_broker(delivery, *chunks), reads=size) == b"".join(chunks)


def test_half_open_ends_with_the_case() -> None:
    assert _conversation(_broker("half_open", b"some")) == b"some"


def _asked(session: Session, selector: selectors.BaseSelector) -> socket.socket:
    host, _, port = session.bootstrap.partition(":")
    sock = socket.create_connection((host, int(port)), timeout=60)
    sock.sendall(REQUEST)
    _until(selector, lambda: session.served)
    return sock


def _is_over(session: Session) -> bool:
    session.tick()
    return session.over


def _until(selector: selectors.BaseSelector, done: Callable[[], bool]) -> None:
    while not done():
        for key, events in selector.select(20):
            key.data(events)


@pytest.mark.parametrize("again", [True, False])
def test_a_session_is_over_when_the_client_has_shown_that_it_is_through(again: bool) -> None:
    now = [100.0]
    with _session(_broker("whole", b"whole"), 0.5, lambda: now[0]) as (session, selector):
        sock = _asked(session, selector)
        now[0] += 0.1
        if again:
            sock.sendall(REQUEST)
            _until(selector, lambda: bool(session.later))
        else:
            sock.close()
            _until(selector, lambda: len(selector.get_map()) == 1)  # only who listens
        assert not _is_over(session)  # it may still suffer from it
        now[0] += 0.51
        assert _is_over(session)
        sock.close()


def test_a_client_that_shows_nothing_has_its_time_all_the_same() -> None:
    now = [100.0]
    with _session(_broker("whole", b"whole"), 0.5, lambda: now[0]) as (session, selector):
        sock = _asked(session, selector)
        now[0] += LINGERING - 0.1
        assert not _is_over(session)
        now[0] += 0.11
        assert _is_over(session)
        sock.close()


def _answered(broker: Broker, requests: int) -> bool:
    return broker.request_counts.total() >= requests


def test_each_connection_that_had_the_case_is_closed() -> None:
    now, again = [100.0], b"of a frame"
    broker = _broker("whole", again, repeats=True)
    with _session(broker, 0.5, lambda: now[0]) as (session, selector):
        for requests in (1, 2):
            sock = _asked(session, selector)
            _until(selector, partial(_answered, broker, requests))
            session.tick()
            now[0] += 0.51
            session.tick()
            sock.settimeout(20)
            assert sock.recv(100) == again
            assert sock.recv(100) == b""
            sock.close()
