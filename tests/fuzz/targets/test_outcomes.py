"""What two targets did with a case, compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from barnabas import specs
from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.targets.outcomes import Outcome, Taken, difference, outcome
from tests.fuzz.observed import request, response

GROUP = "OffsetDelete"
ALL: tuple[Taken, Taken] = ({}, {})


def asked(name: str, version: int) -> bytes:
    key, codec = specs.api(name).key, specs.api(name).request.codec(version)
    return request(key, version, codec.decode(codec.encode({})))


def answered(name: str, version: int, code: int) -> bytes:
    key, codec = specs.api(name).key, specs.api(name).response.codec(version)
    return response(key, version, codec.decode(codec.encode({"error_code": code})))


def seen(name: str, version: int, *codes: int, ending: str = "open") -> Observation:
    frame = asked(name, version)
    key = specs.api(name).key
    case = Case(0, Recipe(Seed(key, version, "request", frame[4:], "x"), ()), (frame,))
    replies = tuple(answered(name, version, code) for code in codes)
    return Observation(case, (frame,), replies, ending)  # type: ignore[arg-type]


def read(**facts: object) -> Observation:
    return replace(seen(GROUP, 0), facts=tuple(facts.items()))


def test_error_codes_and_ends_are_what_brokers_do() -> None:
    assert outcome(seen(GROUP, 0, 69), "broker") == Outcome("GROUP_ID_NOT_FOUND")
    assert outcome(seen(GROUP, 0, 0), "broker").said == "no error"
    assert outcome(seen(GROUP, 0, ending="reset"), "broker").said == "closed"
    assert outcome(seen(GROUP, 0, ending="closed"), "broker").said == "closed"
    assert outcome(seen("Metadata", 1), "broker") == Outcome("no answer")
    unreadable = replace(seen(GROUP, 0), replies=(b"\0\0\0\7",))
    assert outcome(unreadable, "broker").said == "a response that can't be read"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (seen(GROUP, 0, 16), seen(GROUP, 0, 0)),  # NOT_COORDINATOR: another one a moment later
        (seen(GROUP, 0, 35), seen(GROUP, 0, 69)),  # UNSUPPORTED_VERSION: it has no such thing
        (seen("Fetch", 4), seen("Fetch", 4, ending="closed")),  # a long poll
        (replace(seen(GROUP, 0, 0), facts=(("set_aside", True),)), seen(GROUP, 0, 69)),
        (replace(seen(GROUP, 0, 0), facts=(("session_failed", "x"),)), seen(GROUP, 0, 69)),
    ],
)
def test_what_may_be_otherwise_is_no_difference(one: Observation, other: Observation) -> None:
    assert difference(one, other, "broker", ALL) is None
    assert difference(other, one, "broker", ALL) is None


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (seen(GROUP, 0, 69), seen(GROUP, 0, 0), ("GROUP_ID_NOT_FOUND", "no error")),
        # these are so the next time, too
        (seen(GROUP, 0, 24), seen(GROUP, 0, 0), ("INVALID_GROUP_ID", "no error")),
        (seen("Heartbeat", 0, 2), seen("Heartbeat", 0, 0), ("CORRUPT_MESSAGE", "no error")),
        # neither has it
        (
            seen(GROUP, 0, 35),
            seen(GROUP, 0, 35, ending="closed"),
            ("UNSUPPORTED_VERSION", "UNSUPPORTED_VERSION, closed"),
        ),
        # is answered at once
        (seen("Metadata", 1), seen("Metadata", 1, ending="closed"), ("no answer", "closed")),
        (
            replace(seen(GROUP, 0, 0), facts=(("blamed", True),)),
            seen(GROUP, 0, 69),
            ("no error", "GROUP_ID_NOT_FOUND"),
        ),
    ],
)
def test_two_that_do_otherwise_differ(
    one: Observation, other: Observation, told: tuple[str, str]
) -> None:
    assert difference(one, other, "broker", ALL) == told
    assert difference(other, one, "broker", ALL) == (told[1], told[0])


@pytest.mark.parametrize(("versions", "told"), [(range(1), True), (range(1, 2), False)])
def test_a_version_that_one_does_not_offer_is_no_difference(versions: range, told: bool) -> None:
    key = specs.api(GROUP).key
    closed = seen(GROUP, 0, ending="closed")
    for taken in (({key: range(1)}, {key: versions}), ({key: versions}, {key: range(1)})):
        assert (difference(seen(GROUP, 0, 0), closed, "broker", taken) is not None) == told


def test_decoders_differ_in_what_they_refuse_and_in_what_they_read() -> None:
    refused, one, other = read(refused="x"), read(wrote="1"), read(wrote="2")
    assert difference(one, other, "decoder", ALL) == ("read", "read, as something else")
    assert difference(refused, one, "decoder", ALL) == ("refused", "read")
    assert difference(refused, read(refused="y"), "decoder", ALL) is None
    # what can be read and not written has nothing to compare
    assert difference(one, read(unwritten="x"), "decoder", ALL) is None
