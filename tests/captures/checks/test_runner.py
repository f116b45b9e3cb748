"""Test all checks together: none fails for any body, and the entries of CHECKS are complete."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.captures.checks import CHECKS, Check
from barnabas.captures.checks.epochs import Epochs
from barnabas.captures.checks.finding import SEVERITIES, Evidence, Finding, NoSettings, evidence
from barnabas.captures.checks.generations import Generations
from barnabas.captures.checks.runner import CheckFailed, run
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import MOST, Memory
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.specs.registry import NAMES, api
from tests.captures.checks.given import checks_named, exchange, produce, texts
from tests.captures.checks.groups import (
    commit,
    group_heartbeat,
    heartbeat,
    join,
    leave,
    sync,
    transact,
)
from tests.captures.checks.test_generations import leaves
from tests.captures.checks.test_leaders import fetch, metadata
from tests.specs.strategies import values

SEEN = (0, 1, 3, 8, 11, 12, 13, 14, 18, 22, 26, 28, 68, 76, 88)
"""The APIs that some check looks into."""


def exchanges(
    key: int, version: int, requests: list[bytes | None], responses: list[bytes | None]
) -> list[Exchange]:
    """Each request with a response, twice, one behind the other, on two connections."""
    pairs = list(zip_longest(requests, responses))
    return [
        Exchange(
            *(number * 1_000_000, number % 2, "a:1", "app", 1, key, version, number // 3, 10),
            latency_ms=None if came is None else float(number % 4),
            request_body=asked,
            response_body=came,
            ordinal=number // 2,
            losses=number // 40,
        )
        for number, (asked, came) in enumerate(pairs * 2)
    ]


@pytest.mark.parametrize("key", SEEN)
@settings(max_examples=8)
@given(data=st.data())
def test_any_values_pass_through_every_check(key: int, data: st.DataObject) -> None:
    declared = api(key)
    version = data.draw(st.integers(*declared.versions))

    def drawn(direction: Any) -> list[bytes | None]:
        message = declared.message(direction)
        body = values(message.layout(version)).map(message.codec(version).encode)
        return data.draw(st.lists(body, min_size=1, max_size=2))

    seen = exchanges(key, version, drawn("request"), [*drawn("response"), None])
    for _, finding in run(seen, CHECKS):
        assert finding.severity in SEVERITIES
        assert finding.advice.endswith(".")
        assert list(finding.evidence) == sorted(finding.evidence, key=lambda one: one.ts)


def test_undecodable_bodies_pass_through_every_check() -> None:
    for key in NAMES:
        assert list(run(exchanges(key, 0, [b"\xff\xff"], [b"\xff"]), CHECKS)) is not None


def hostile(number: int) -> Iterator[Exchange]:
    """Yield exchanges of a new client and member with names of 30 KB."""
    at, name = number * 1000.0, f"{LONG}{number}"
    about: dict[str, Any] = {"client": name, "connection": number, "host": name}
    yield exchange("ApiVersions", 2, {}, {"error_code": 0, "api_keys": []}, at=at, **about)
    yield metadata(at + 1, 2, **about)
    yield fetch(at + 2, error=6, **about)
    yield produce(at + 3, ["v"], error=7, topic=name, **about)
    yield produce(at + 4, ["v"], topic=name, sequence=7, producer=number, epoch=0, **about)
    yield join(at + 5, name, number, members=(name, f"{name} too"), **about)
    yield sync(at + 6, name, number, **about)
    yield commit(at + 7, name, number, **about)
    yield transact(at + 8, number, member=name, **about)
    yield heartbeat(at + 9, name, number, error=25, **about)
    yield join(at + 10, f"{name} again", number, **about)
    yield leave(at + 11, f"{name} again", **about)
    yield group_heartbeat(at + 12, 0, 1, member=name, **about)
    yield group_heartbeat(at + 13, -1, -1, member=name, **about)
    yield group_heartbeat(at + 14, 0, 1, member=name, **about)
    again = {**about, "connection": number + 1000}
    yield produce(at + 15, ["v"], topic=name, sequence=7, producer=number, epoch=0, **again)


LONG = "x" * 30_000


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_what_it_remembers_has_a_bound_whatever_names_there_are(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = 1 << 20
    monkeypatch.setattr(Memory.__init__, "__defaults__", (MOST, bound))
    for groups in (Generations, Epochs):
        monkeypatch.setattr(groups.__init__, "__defaults__", (bound,))
    see, context = check.begin(check.settings), Context()
    for number in range(200):
        for one in hostile(number):
            list(see(one, context))
    assert texts(see) < 5 * bound


@pytest.mark.parametrize("begin", [Generations, Epochs])
def test_a_hundred_members_are_within_the_bound(begin: Any) -> None:
    known = begin(bytes_=1 << 20)
    for number in range(100):
        list(known.learn(join(number, f"m{number}")))
        list(known.learn(group_heartbeat(number, 0, 1, member=f"m{number}")))
    (last,) = known.finish()
    assert len(last.joins) == 100


def test_a_long_list_of_members_is_not_kept() -> None:
    known = Generations(bytes_=1 << 20)
    list(known.learn(join(0, members=tuple(f"{LONG}{number}" for number in range(100)))))
    assert texts(vars(known)) < 1 << 20


def test_members_that_have_left_are_not_kept_without_bound() -> None:
    known = Generations(bytes_=1 << 14)
    names = tuple(map(str, range(50)))
    for one in (join(0, members=names), *(leaves(9, name, reason="x" * 255) for name in names)):
        list(known.learn(one))
    assert not list(known.present())


class Counts:
    """A check of one's own that says at the end what it has seen."""

    def __init__(self, settings: NoSettings) -> None:
        self.seen: list[Evidence] = []

    def __call__(self, exchange: Exchange, context: Context) -> Iterator[Finding]:
        self.seen.append(evidence(exchange))
        return iter(())

    def finish(self) -> Iterator[Finding]:
        yield Finding("note", f"{len(self.seen)} exchanges", "", tuple(self.seen))


def test_a_check_may_have_findings_left_at_the_end() -> None:
    check = Check("counter", NoSettings(), Counts, "what there is", "all APIs")
    (found,) = run([produce(1, ["a"]), produce(2, ["b"])], [check])
    assert (found[0].name, found[1].what) == ("counter", "2 exchanges")
    with pytest.raises(
        CheckFailed, match=r"check counter failed at the end: ValueError: .* evidence"
    ):
        list(run([], [check]))


def test_entries_are_whole() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert dataclasses.is_dataclass(check.settings)
        for name in check.settings.__dataclass_fields__:
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(check.settings, name, 0)
        assert check.what
        assert re.search(r"v\d+\+|KIP-\d+|\ball APIs\b", check.holds)
        assert not check.what.endswith(".")
        file = Path(__file__).parent / f"test_{check.name}.py"
        assert file.exists(), f"{file.name} is missing: it tests what the check finds"


DATA = Path(__file__).parent / "data"
OF_PRODUCERS = checks_named(
    "responses", "correlation_ids", "backoff", "sequences", "order", "corrupt_records"
)


@pytest.mark.parametrize(
    ("name", "exchanges", "findings"),
    [
        # Java's transactional producer against 4.3.1: a batch is refused with CONCURRENT_TRANSACTIONS and
        # those in flight behind it with OUT_OF_ORDER_SEQUENCE_NUMBER; all are sent again, in order
        ("refused-transactional.pcapng.gz", 34, {}),
        # Java's producer without idempotence, five requests in flight, some refused by a rule of the proxy
        ("reordered.pcapng.gz", 49, {"order": 2}),
        # librdkafka closes a connection when the acknowledgement comes, and sends the batch on another
        ("retried-elsewhere.pcapng.gz", 7, {}),
        # librdkafka sends a batch six times on one connection, each of which the broker acknowledges
        ("repeated.pcapng.gz", 11, {"sequences": 5}),
    ],
)
def test_findings_of_real_clients(name: str, exchanges: int, findings: dict[str, int]) -> None:
    seen = list(Conversations(strays=True).exchanges(CaptureReader(DATA / name)))
    assert len(seen) == exchanges
    assert Counter(check.name for check, _ in run(seen, OF_PRODUCERS)) == findings
