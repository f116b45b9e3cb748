"""Each thing that an oracle lets pass, with what it is for and what it is not: nothing passes unlooked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from barnabas.fuzz.cases.observation import (
    COMPUTES,
    KEPT_LIMIT,
    REPLY_LIMIT,
    TOGETHER,
    Death,
    Observation,
    Probe,
)
from barnabas.fuzz.observations.delayed_responses import LIMIT_MS, PARKED
from barnabas.fuzz.oracles.allowed import CLASSES, IN_PARSING, PREFIXES, REFUSING
from barnabas.fuzz.oracles.client_died import CLIENT_DIED
from barnabas.fuzz.oracles.client_hung import CLIENT_HUNG
from barnabas.fuzz.oracles.closing import EXEMPT
from barnabas.fuzz.oracles.costly import FEW
from barnabas.fuzz.oracles.damaged import MAY
from barnabas.fuzz.oracles.greedy import GREEDY
from barnabas.fuzz.targets.outcomes import PASSING
from barnabas.fuzz.targets.read_back import MOVED
from barnabas.specs import api
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import API_VERSIONS, METADATA, PRODUCE
from barnabas.specs.registry import NAMES
from tests.fuzz.observed import case, observed, request, response
from tests.fuzz.oracles.test_broker_oracles import ANSWER, ANSWERED, ASK, judged

HEAD: Final = (
    "[data-plane-kafka-request-handler-8] ERROR kafka.server.RequestHandlerHelper - [KafkaApi-1] x"
)
FRAMES: Final = "\n\tat kafka.server.KafkaApis.handle(KafkaApis.scala:1)"


def logged(*chain: str) -> bool:
    """Whether an entry with these exceptions, the outermost first, is a finding."""
    entry = "\n".join((HEAD, chain[0] + FRAMES, *(f"Caused by: {one}" for one in chain[1:])))
    return bool(judged("logged", observed(ASK, replies=(ANSWER,), log=(entry,))))


def empty(key: int, **fields: Any) -> bytes:
    """A request of the newest version with nothing in it but these."""
    version = api(key).versions[1]
    codec = api(key).request.codec(version)
    return request(key, version, {**codec.decode(codec.encode({})), **fields})


BESIDE: Final = {
    "org.apache.kafka.common.errors.": (
        "org.apache.kafka.common.errors.CorruptRecordException: Record size 1 is less than the minimum",
        "org.apache.kafka.common.KafkaException: Failed to parse the broker info",
    ),
    "java.io.": (
        "java.io.IOException: Connection reset by peer",
        "java.lang.IllegalStateException: Stream closed",
    ),
    "java.net.": (
        "java.net.SocketException: Connection reset",
        "java.nio.BufferOverflowException",
    ),
    "java.nio.channels.": (
        "java.nio.channels.ClosedChannelException",
        "java.nio.BufferUnderflowException",
    ),
    "javax.net.ssl.": (
        "javax.net.ssl.SSLHandshakeException: no cipher suites in common",
        "javax.security.sasl.SaslException: no user",
    ),
    "org.apache.zookeeper.": (
        "org.apache.zookeeper.KeeperException$SessionExpiredException: KeeperErrorCode = Session expired",
        "java.lang.IllegalArgumentException: Path must not end with / character",
    ),
    "kafka.zookeeper.": (
        "kafka.zookeeper.ZooKeeperClientExpiredException: Session expired",
        "kafka.zk.FeatureZNodeException: no version",
    ),
}
"""Beginning of a class's name -> what it lets pass, and what it does not."""


@pytest.mark.parametrize("prefix", [prefix for prefix, _ in PREFIXES])
def test_what_a_beginning_of_names_lets_pass_and_what_not(prefix: str) -> None:
    passes, fires = BESIDE[prefix]
    assert passes.startswith(prefix)
    assert not logged(passes)
    assert logged(fires)
    assert logged(passes, "java.lang.NullPointerException: what it came of is judged, too")


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_that_passes_does_not_let_those_beside_it_pass(name: str) -> None:
    assert not logged(f"{name}: as it is")
    package, _, _ = name.rpartition(".")
    assert logged(f"{package}.SurpriseException: nobody meant it")


@pytest.mark.parametrize(
    "name",
    [
        # of the jars of 2.8 and 3.9: a log or a broker's own records are broken
        "kafka.common.OffsetsOutOfOrderException",
        "kafka.common.UnexpectedAppendOffsetException",
        "kafka.common.LogSegmentOffsetOverflowException",
        "kafka.common.KafkaStorageException",
        "org.apache.kafka.server.common.serialization.MetadataParseException",
    ],
)
def test_what_has_no_error_code_is_a_finding_wherever_it_stands(name: str) -> None:
    assert logged(f"{name}: out of order")


@pytest.mark.parametrize("name", IN_PARSING)
@pytest.mark.parametrize("outer", sorted(REFUSING))
def test_what_readers_throw_passes_as_the_cause_of_a_refusal_alone(name: str, outer: str) -> None:
    assert not logged(f"{outer}: Error getting request for apiKey: METADATA", f"{name}: of 7")
    assert logged(f"{name}: of 7")
    assert logged("org.apache.kafka.common.errors.TimeoutException: no", f"{name}: of 7")


@pytest.mark.parametrize("key", EXEMPT)
def test_an_api_that_is_refused_as_the_broker_likes_may_be_closed_on(key: int) -> None:
    assert not judged("closing", observed(empty(key), ending="closed"))
    assert judged("closing", observed(ASK, ending="closed"))


@pytest.mark.parametrize(
    "seen",
    [
        {"facts": (("unoffered", True),)},
        {"ending": "open"},  # that is for `unanswered`
    ],
)
def test_who_may_close_or_has_not(seen: dict[str, Any]) -> None:
    closed = observed(ASK, ending="closed")
    assert judged("closing", closed)
    assert not judged("closing", replace(closed, **seen))


DIED: Final = Death(134, "# A fatal error has been detected by the Java Runtime Environment:")


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("closing", observed(ASK, ending="closed")),
        ("damaged", observed(ASK, probe=Probe(True, 1.0, "its records are gone"))),
        ("hung", observed(ASK, probe=Probe(False, 5000.0, "no answer within 5 s"))),
    ],
)
def test_what_comes_of_a_death_is_for_its_own_oracle(name: str, seen: Observation) -> None:
    assert judged(name, seen)
    dead = replace(seen, death=DIED)
    assert not judged(name, dead)
    assert judged("died", dead)


def test_a_hang_that_a_client_died_of_is_for_its_own_oracle() -> None:
    probe = Probe(False, 4000.0, "a session had not ended after 4 s")
    hangs = observed(ASK, probe=probe, facts=(("confirmed", True),))
    assert [*CLIENT_HUNG.judge(hangs)]
    dead = replace(hangs, death=Death(-9, ""))
    assert not [*CLIENT_HUNG.judge(dead)]
    assert [*CLIENT_DIED.judge(dead)]


def test_who_answers_nobody_is_not_said_to_have_left_out_one() -> None:
    late = observed(ASK, took_ms=LIMIT_MS + 1.0, probe=ANSWERED)
    assert judged("unanswered", late)
    hangs = replace(late, probe=Probe(False, 5000.0, "no answer within 5 s"))
    assert not judged("unanswered", hangs)
    assert judged("hung", hangs)


def test_memory_that_several_took_is_of_none_and_that_of_one_is_its_own() -> None:
    grown = observed(ASK, replies=(ANSWER,), rss=(100 << 20, 300 << 20))
    assert judged("amplified", grown)
    assert not judged("amplified", replace(grown, facts=((TOGETHER, [3, 4]),)))


def test_minus_one_counts_where_the_response_can_be_read() -> None:
    broken = {"error_code": -1, "name": "t", "is_internal": False, "partitions": []}
    reply = response(METADATA, 1, {"brokers": [], "topics": [broken]})
    assert judged("server_error", observed(ASK, replies=(reply,)))
    cut = observed(ASK, replies=(reply[:-1],))
    assert not judged("server_error", cut)
    assert judged("responses", cut)
    unknown = ASK[:4] + (max(NAMES) + 1000).to_bytes(2) + ASK[6:]
    assert not judged("server_error", observed(unknown, replies=(reply,)))


@pytest.mark.parametrize(("error", "right"), [(35, True), (42, False), (0, False)])
def test_api_versions_is_answered_in_its_first_version_only_if_its_own_is_lacking(
    error: int, right: bool
) -> None:
    """KIP-511. What Kafka 2.3 says of v3: UNSUPPORTED_VERSION, in v0."""
    asked = empty(API_VERSIONS)
    keys = [{"api_key": API_VERSIONS, "min_version": 0, "max_version": 2}]
    reply = response(API_VERSIONS, 0, {"error_code": error, "api_keys": keys})
    assert bool(judged("responses", observed(asked, replies=(reply,)))) is not right


@pytest.mark.parametrize(
    ("size", "took_ms", "mib", "count"),
    [
        (100, 1900.0, 127, 0),
        (100, 2100.0, 127, 1),
        (100, 1900.0, 129, 1),
        (1 << 20, 20_000.0, 300, 0),  # 1 MiB may take 256 MiB more, and 21 s
        (1 << 20, 24_000.0, 400, 2),
    ],
)
def test_a_decoder_may_take_what_its_input_justifies(
    size: int, took_ms: float, mib: int, count: int
) -> None:
    seen = Observation(case(ASK), (bytes(size),), took_ms=took_ms, rss=(0, mib << 20))
    assert len([*GREEDY.judge(seen)]) == count


def test_a_connection_that_the_client_has_half_closed_may_be_closed() -> None:
    closed = observed(ASK, ending="closed")
    half = replace(closed, case=closed.case._replace(delivery="half_open"))
    assert not judged("closing", half)


@pytest.mark.parametrize("count", [b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x08"])
def test_a_number_of_tags_below_zero_is_none_and_one_above_is_not(count: bytes) -> None:
    body = api(METADATA).request.codec(9)
    plain = request(METADATA, 9, body.decode(body.encode({})))

    def with_tags(tags: bytes) -> bytes:
        return (len(plain) - 5 + len(tags)).to_bytes(4) + plain[4:-1] + tags

    answered = response(METADATA, 9, {"brokers": [], "topics": []})
    assert not judged("closing", observed(with_tags(count), replies=(answered,)))
    assert judged("closing", observed(with_tags(b"\xff\xff\xff\xff\x07"), replies=(answered,)))


@pytest.mark.parametrize("key", MAY)
def test_who_may_change_others_damages_nothing_and_who_only_asks_does(key: int) -> None:
    gone = Probe(True, 1.0, "its records are gone")
    assert not judged("damaged", observed(empty(key), probe=gone))
    assert judged("damaged", observed(ASK, probe=gone))


ASKS_ONLY: Final = (
    "Metadata",
    "ApiVersions",
    "DescribeConfigs",
    "DescribeGroups",
    "ListGroups",
    "Heartbeat",
)


@pytest.mark.parametrize("name", ASKS_ONLY)
def test_who_reads_what_is_there_is_answered_at_once(name: str) -> None:
    key = api(name).key
    assert key not in PARKED
    assert key not in MAY
    late = observed(empty(key), took_ms=LIMIT_MS + 1.0, probe=ANSWERED)
    assert [verdict.behaviour for verdict in judged("unanswered", late)] == [(name,)]


@pytest.mark.parametrize("key", PARKED)
def test_an_answer_that_may_take_its_time_is_not_missed(key: int) -> None:
    sent = empty(key, **({"acks": -1} if key == PRODUCE else {}))
    assert not judged("unanswered", observed(sent, took_ms=LIMIT_MS + 1.0, probe=ANSWERED))


@pytest.mark.parametrize(("acks", "missed"), [(-1, False), (0, False), (1, True)])
def test_a_produce_waits_for_replicas_only(acks: int, missed: bool) -> None:
    sent = request(PRODUCE, 3, {"acks": acks, "timeout_ms": 1, "topic_data": []})
    late = observed(sent, took_ms=LIMIT_MS + 1.0, probe=ANSWERED)
    assert bool(judged("unanswered", late)) is missed


def test_what_says_nothing_of_a_log_is_an_error_of_where_it_is() -> None:
    assert {error_name(code) for code in MOVED} == {
        "OFFSET_OUT_OF_RANGE",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "LEADER_NOT_AVAILABLE",
        "NOT_LEADER_OR_FOLLOWER",
        "REPLICA_NOT_AVAILABLE",
    }


def test_what_may_be_gone_a_moment_later_is_no_answer_to_the_bytes() -> None:
    names = {error_name(code) for code in PASSING}
    assert {"NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT", "COORDINATOR_LOAD_IN_PROGRESS"} <= names
    assert not names & {
        "CORRUPT_MESSAGE",
        "INVALID_RECORD",
        "INVALID_REQUEST",
        "UNKNOWN_SERVER_ERROR",
    }


def test_a_response_of_which_the_end_was_let_go_is_not_read_and_a_shorter_one_is() -> None:
    long = ANSWER + bytes(REPLY_LIMIT - len(ANSWER))
    assert not judged("responses", observed(ASK, replies=(long,)))
    assert judged("responses", observed(ASK, replies=(long[:-1],)))


@pytest.mark.parametrize(
    ("size", "count"), [(100 << 20, 0), ((100 << 20) + 1, 1), (-1, 1), (40, 1)]
)
def test_the_buffer_of_a_frame_that_may_be_as_large_is_in_proportion(size: int, count: int) -> None:
    sent = ASK + size.to_bytes(4, signed=True) + ASK[4:]
    grown = (60 << 20, (60 << 20) + (120 << 20))
    assert len(judged("amplified", observed(sent, rss=grown))) == count
    more = (60 << 20, (60 << 20) + (200 << 20))
    assert len(judged("amplified", observed(sent, rss=more))) == 1


def test_of_many_responses_those_that_were_let_go_are_not_read_and_those_before_are() -> None:
    def seen(first: bytes) -> Observation:
        large = ANSWER + bytes(REPLY_LIMIT - 1 - len(ANSWER))
        replies = (first, *[large] * 3, large[: KEPT_LIMIT - len(first) - 3 * len(large)], b"")
        return Observation(case(ASK), (ASK,) * 6, replies)

    assert len(judged("responses", seen(ANSWER))) == 3  # with bytes behind their ends
    assert len(judged("responses", seen(ANSWER[:-1]))) == 4


@pytest.mark.parametrize("at", [4, 6])
def test_what_nobody_has_a_layout_of_may_be_closed_on(at: int) -> None:
    """An API, or a version of one."""
    unknown = ASK[:at] + (1000).to_bytes(2) + ASK[at + 2 :]
    assert not judged("closing", observed(unknown, ending="closed"))
    assert judged("closing", observed(ASK, ending="closed"))


def test_what_nobody_knows_is_not_judged_by_its_layout() -> None:
    unknown = max(NAMES) + 1000
    sent = ASK[:4] + unknown.to_bytes(2) + ASK[6:]
    seen: Observation = observed(sent, replies=(ANSWER[:-1],))
    assert not judged("responses", seen)
    assert judged("responses", observed(ASK, replies=(ANSWER[:-1],)))


def test_many_bytes_may_have_a_thread_compute_for_long_and_few_may_not() -> None:
    for size, fine in ((FEW, False), (FEW + 1, True)):
        seen = observed(bytes(size), facts=((COMPUTES, [5.0]),))
        assert bool(judged("costly", seen)) is not fine
