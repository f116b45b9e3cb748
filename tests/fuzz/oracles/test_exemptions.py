"""Each thing that an oracle lets pass, with what it is for and what it is not: nothing passes unlooked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.cases.json_form import recipe_json
from barnabas.fuzz.cases.observation import (
    COMPUTES,
    EARLIER,
    KEPT_LIMIT,
    REPLY_LIMIT,
    TOGETHER,
    Death,
    Observation,
)
from barnabas.fuzz.observations.delayed_responses import LIMIT_MS, PARKED
from barnabas.fuzz.oracles.closing import EXEMPT
from barnabas.fuzz.oracles.costly import FEW
from barnabas.fuzz.oracles.documented import DOCUMENTED
from barnabas.fuzz.oracles.others import MAY
from barnabas.specs import api
from barnabas.specs.keys import (
    API_VERSIONS,
    DELETE_TOPICS,
    FETCH,
    FIND_COORDINATOR,
    METADATA,
    PRODUCE,
)
from barnabas.specs.registry import NAMES
from tests.fuzz.observed import case, request, response
from tests.fuzz.oracles.judging import (
    ANSWER,
    ANSWERED,
    ASK,
    BATCH,
    DAMAGED,
    LATE,
    MIB,
    NOT_ANSWERED,
    empty,
    judged,
    of_broker,
    of_client,
    produce,
    raising,
)

KAFKA: Final = "org.apache.kafka.common."
CLOSED: Final = of_broker(ending="closed")
TWO_VERSIONS: Final = [{"api_key": API_VERSIONS, "min_version": 0, "max_version": 2}]
BROKEN: Final = response(
    METADATA, 1, {"brokers": [], "topics": [{"error_code": -1, "name": "t", "partitions": []}]}
)
UNKNOWN: Final = ASK[:4] + (max(NAMES) + 1000).to_bytes(2) + ASK[6:]
LARGE: Final = request(METADATA, 1, {"topics": [{"name": "x" * 30000}] * 70})
GROWN: Final = of_broker(replies=(ANSWER,), rss=(100 * MIB, 300 * MIB))


def long_poll(**seen: Any) -> Observation:
    body = {"max_wait_ms": 2**31 - 1, "min_bytes": 1, "topics": [], "replica_id": -1}
    return of_broker(request(FETCH, 4, body), **seen)


@pytest.mark.parametrize(
    ("oracle", "fires", "passes"),
    [
        ("closing", CLOSED, replace(CLOSED, facts=(("unoffered", True),))),
        ("closing", CLOSED, of_broker()),  # that is for `unanswered`
        ("closing", CLOSED, replace(CLOSED, death=Death(134, "# A fatal error"))),
        ("closing", CLOSED, replace(CLOSED, case=CLOSED.case._replace(delivery="half_open"))),
        # an API, or a version of one, that nobody has a layout of
        ("closing", CLOSED, of_broker(ASK[:4] + b"\3\xe8" + ASK[6:], ending="closed")),
        ("closing", CLOSED, of_broker(ASK[:6] + b"\3\xe8" + ASK[8:], ending="closed")),
        ("damaged", of_broker(probe=DAMAGED), of_broker(probe=DAMAGED, death=Death(134, ""))),
        ("hung", of_broker(probe=NOT_ANSWERED), of_broker(probe=NOT_ANSWERED, death=Death(1, ""))),
        ("unanswered", of_broker(took_ms=LIMIT_MS, probe=ANSWERED),
         of_broker(took_ms=LIMIT_MS, probe=NOT_ANSWERED)),
        ("unanswered", of_broker(took_ms=LIMIT_MS, probe=ANSWERED),
         long_poll(took_ms=LIMIT_MS, probe=ANSWERED)),
        ("amplified", GROWN, replace(GROWN, facts=((TOGETHER, [3, 4]),))),
        ("amplified", GROWN, of_broker(LARGE, rss=(100 * MIB, 300 * MIB))),
        ("server_error", of_broker(replies=(BROKEN,)), of_broker(replies=(BROKEN[:-1],))),
        ("server_error", of_broker(replies=(BROKEN,)), of_broker(UNKNOWN, replies=(BROKEN,))),
        ("responses", of_broker(replies=(BROKEN[:-1],)), of_broker(UNKNOWN, replies=(BROKEN[:-1],))),
        # of which the end was let go, and which may be as long as it says
        ("responses", of_broker(replies=(ANSWER.ljust(REPLY_LIMIT - 1),)),
         of_broker(replies=(ANSWER.ljust(REPLY_LIMIT),))),
        # KIP-511: what Kafka 2.3 says of v3 is UNSUPPORTED_VERSION, in v0
        *(("responses", of_broker(empty(API_VERSIONS), replies=(
              response(API_VERSIONS, 0, {"error_code": other, "api_keys": TWO_VERSIONS}),)),
           of_broker(empty(API_VERSIONS), replies=(
              response(API_VERSIONS, 0, {"error_code": 35, "api_keys": TWO_VERSIONS}),)))
          for other in (0, 42)),
        ("costly", of_broker(bytes(FEW), facts={COMPUTES: [5.0]}),
         of_broker(bytes(FEW + 1), facts={COMPUTES: [5.0]})),
        ("client-hung", of_client(probe=LATE, facts={"confirmed": True}),
         of_client(probe=LATE, facts={"confirmed": True}, death=Death(-9, ""))),
    ],
)  # fmt: skip
def test_what_is_let_pass_beside_what_is_not(
    oracle: str, fires: Observation, passes: Observation
) -> None:
    assert judged(oracle, fires)
    assert not judged(oracle, passes)


def test_of_many_responses_those_that_were_let_go_are_not_read_and_those_before_are() -> None:
    for first, count in ((ANSWER, 3), (ANSWER[:-1], 4)):
        large = ANSWER + bytes(REPLY_LIMIT - 1 - len(ANSWER))
        last = large[: KEPT_LIMIT - len(first) - 3 * len(large)]
        seen = Observation(case(ASK), (ASK,) * 6, (first, *[large] * 3, last, b""))
        assert len(judged("responses", seen)) == count


# as Kafka 0.11.0.1 said of these
OLD = f"{KAFKA}record.InvalidRecordException: Produce requests with version 3 are only"
SMALL = f"{KAFKA}errors.CorruptRecordException: Record size is less than the minimum"
SOCKET = "[a] ERROR Closing socket for 127.0.0.1:1-127.0.0.1:2 because of error"
OUTER = f"{KAFKA}errors.InvalidRequestException: Error getting request\nCaused by: "


@pytest.mark.parametrize(
    ("records", "cause"),
    [
        (BATCH + BATCH, f"{OLD} allowed to contain exactly one record batch"),
        (BATCH[:16] + b"\1" + BATCH[17:], f"{OLD} allowed to contain magic version 2"),
        (b"", f"{KAFKA}record.InvalidRecordException: at least one record batch"),
        (BATCH[:8] + b"\0\0\0\1" + BATCH[12:], f"{SMALL} record overhead (14)"),
    ],
)
def test_closing_on_records_that_are_none_is_right(records: bytes, cause: str) -> None:
    sent, said = produce(3, records), (f"{SOCKET}\n{OUTER}{cause}",)
    assert not judged("closing", of_broker(sent, ending="closed", log=said))
    assert judged("closing", of_broker(sent, ending="closed"))
    # of good records it is wrong; and who has read the request has an error code
    ((_, *behaviour),) = judged("closing", of_broker(produce(3, BATCH), ending="closed", log=said))
    assert behaviour[:2] == ["Produce", "closed"]
    assert judged("closing", of_broker(sent, ending="closed", log=(f"{SOCKET}\n{cause}",)))
    assert judged("closing", of_broker(ASK, ending="closed", log=said))


def test_closing_on_a_version_that_is_offered_only_for_show_is_right() -> None:
    said = (f"{SOCKET}\n{KAFKA}errors.UnsupportedVersionException: PRODUCE with version 2",)
    for sent, right in (
        (produce(0, b""), True),
        (produce(2, b""), True),
        (produce(3, BATCH), False),
        (ASK, False),
    ):
        assert judged("closing", of_broker(sent, ending="closed"))
        assert bool(judged("closing", of_broker(sent, ending="closed", log=said))) is not right
        # behind another request the log may be the neighbour's
        second = of_broker(ASK + sent, replies=(ANSWER,), ending="closed")
        assert bool(judged("closing", second)) is not right


def with_tags(frame: bytes, tags: bytes) -> bytes:
    """Return a request that ends with other tags than none."""
    return (len(frame) - 5 + len(tags)).to_bytes(4) + frame[4:-1] + tags


FETCH_12: Final = request(FETCH, 12, api(FETCH).request.layout(12).defaults() | {"topics": []})
METADATA_9: Final = request(METADATA, 9, api(METADATA).request.layout(9).defaults())


@pytest.mark.parametrize(
    ("sent", "answer", "right"),
    [
        # a tag that only newer releases know: 1 is the replica state, from version 15 on
        (with_tags(FETCH_12, b"\1\1\0"), response(FETCH, 12, {}), True),
        (with_tags(FETCH_12, b"\1\x09\7"), response(FETCH, 12, {}), False),  # of more bytes than there are
        # a number of tags below zero is none, as Kafka reads it
        (with_tags(METADATA_9, b"\xff\xff\xff\xff\x0f"), response(METADATA, 9, {}), True),
        (with_tags(METADATA_9, b"\x80\x80\x80\x80\x08"), response(METADATA, 9, {}), True),
        (with_tags(METADATA_9, b"\xff\xff\xff\xff\x07"), response(METADATA, 9, {}), False),
    ],
)  # fmt: skip
def test_tags_that_a_broker_may_answer(sent: bytes, answer: bytes, right: bool) -> None:
    assert bool(judged("closing", of_broker(sent, replies=(answer,)))) is not right


@pytest.mark.parametrize("key", EXEMPT)
def test_an_api_that_is_refused_as_the_broker_likes_may_be_closed_on(key: int) -> None:
    assert not judged("closing", of_broker(empty(key), ending="closed"))


@pytest.mark.parametrize("key", MAY)
def test_who_may_change_others_damages_nothing(key: int) -> None:
    assert not judged("damaged", of_broker(empty(key), probe=DAMAGED))


def test_who_may_change_others_may_have_done_so_before_the_case() -> None:
    for key in (METADATA, DELETE_TOPICS):
        earlier = recipe_json(Recipe(Seed(key, 1, "request", b"", ""), ()))
        facts = {TOGETHER: [1, 2], EARLIER: [earlier]}
        assert bool(judged("damaged", of_broker(probe=DAMAGED, facts=facts))) is (key == METADATA)


@pytest.mark.parametrize("key", PARKED)
def test_an_answer_that_may_take_its_time_is_not_missed(key: int) -> None:
    sent = empty(key, **({"acks": -1} if key == PRODUCE else {}))
    assert not judged("unanswered", of_broker(sent, took_ms=LIMIT_MS, probe=ANSWERED))


@pytest.mark.parametrize(("acks", "missed"), [(-1, False), (0, False), (1, True)])
def test_a_produce_waits_for_replicas_only(acks: int, missed: bool) -> None:
    late = of_broker(produce(3, BATCH, acks), took_ms=LIMIT_MS, probe=ANSWERED)
    assert bool(judged("unanswered", late)) is missed


@pytest.mark.parametrize("throttled", [8196, 0, -1])
def test_who_is_told_to_wait_by_whatever_was_changed_may_wait(throttled: int) -> None:
    sent = response(FIND_COORDINATOR, 1, {"throttle_time_ms": throttled})
    waits = of_client("", probe=LATE, facts={"confirmed": True})
    asked = Seed(FIND_COORDINATOR, 1, "response", b"", "tests")
    recipe = waits.case.recipe._replace(seed=asked)
    seen = replace(waits, case=Case(3, recipe, (len(sent).to_bytes(4), sent)))
    assert bool(judged("client-hung", seen)) is (throttled <= 0)


@pytest.mark.parametrize(("client", "base"), [(name, base) for name, base, _ in DOCUMENTED])
def test_what_a_client_documents_may_leave_it(client: str, base: str) -> None:
    assert not judged("client-raised", raising(client, "own.Derived", base, "Exception"))
    assert judged("client-raised", raising("another", "own.Derived", base, "Exception"))
