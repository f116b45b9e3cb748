"""However many groups and members there are, and whatever they are called, what is kept has a bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from barnabas.captures.checks.epochs import Epochs
from barnabas.captures.checks.generations import Generations
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import texts
from tests.captures.checks.groups import group_heartbeat, heartbeat, join, leave, sync

BYTES = 1 << 20
LONG = "x" * 30_000


def classic(number: int, group: str) -> Iterator[Exchange]:
    """One more joins, is listed, is thrown out of a generation, and leaves."""
    at, name = number * 100.0, f"{LONG}{number}"
    seen = [
        join(at, name, number, leader=name, members=(name, f"{name} silent")),
        sync(at + 10, name, number),
        heartbeat(at + 20, name, number, error=25),
        join(at + 30, f"{name} leaves", number),
        leave(at + 40, f"{name} leaves"),
    ]
    yield from (_of(one, group) for one in seen)


def new(number: int, group: str) -> Iterator[Exchange]:
    at, name = number * 100.0, f"{LONG}{number}"
    yield _of(group_heartbeat(at, 0, 1, member=name), group)
    yield _of(group_heartbeat(at, 0, 1, member=f"{name} leaves"), group)
    yield _of(group_heartbeat(at, -1, -1, member=f"{name} leaves"), group)


def _of(one: Exchange, group: str) -> Exchange:
    """The same in another group: its name stands where `g` does."""
    head, name = (one.request_body or b"").split(b"\x00\x01g" if one.key < 68 else b"\x02g", 1)
    coded = group.encode()
    size = len(coded).to_bytes(2) if one.key < 68 else bytes([len(coded) + 1])
    one.request_body = head + size + coded + name
    one.client_id = LONG
    return one


@pytest.mark.parametrize("groups", [1, 200])
@pytest.mark.parametrize(("begin", "traffic"), [(Generations, classic), (Epochs, new)])
def test_hostile_names_stay_within_a_bound(begin: Any, traffic: Any, groups: int) -> None:
    known = begin(bytes_=BYTES)
    for number in range(200):
        for one in traffic(number, f"g{number % groups}"):
            list(known.learn(one))
            assert known.weight < 4 * BYTES
    list(known.finish())
    assert texts(vars(known)) < 4 * BYTES


def test_a_long_list_of_members_is_not_kept() -> None:
    known = Generations(bytes_=BYTES)
    list(known.learn(join(0, members=tuple(f"{LONG}{number}" for number in range(100)))))
    assert texts(vars(known)) < BYTES


@pytest.mark.parametrize("begin", [Generations, Epochs])
def test_what_is_within_it_is_remembered(begin: Any) -> None:
    known = begin(bytes_=BYTES)
    for number in range(100):
        list(known.learn(join(number, f"m{number}")))
        list(known.learn(group_heartbeat(number, 0, 1, member=f"m{number}")))
    (last,) = known.finish()
    assert len(last.joins) == 100
