"""Each oracle of brokers on observations that make it fire, and on like ones that must not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from barnabas.fuzz.cases.observation import (
    COMPUTES,
    DIFFERS,
    STACK,
    TOGETHER,
    Death,
    Observation,
    Probe,
)
from barnabas.fuzz.observations.delayed_responses import LIMIT_MS
from barnabas.fuzz.observations.java_exceptions import raised
from barnabas.fuzz.oracles.allowed import CLASSES, IN_PARSING
from barnabas.fuzz.oracles.oracle import OF_REPLIES, Verdict, whose
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.specs.keys import FETCH, METADATA, PRODUCE, STOP_REPLICA
from barnabas.specs.records import build
from barnabas.specs.records.record import Record
from tests.fuzz.observed import case, observed, request, response

TOPIC_ERROR = {
    "brokers": [],
    "topics": [{"error_code": -1, "name": "t", "is_internal": False, "partitions": []}],
}
ASK = request(METADATA, 1, {"topics": None})
ANSWER = response(METADATA, 1, {"brokers": [], "topics": []})
NPE = """\
[data-plane-kafka-request-handler-1] ERROR kafka.server.KafkaApis - [KafkaApi-1] Unexpected error
java.lang.NullPointerException: Cannot invoke "String.length()" because "topic" is null
\tat java.base/java.util.Objects.requireNonNull(Objects.java:208)
\tat kafka.server.metadata.ZkMetadataCache.$anonfun$getTopic$2(ZkMetadataCache.scala:133)
\tat kafka.server.KafkaApis.handleTopicMetadataRequest(KafkaApis.scala:1175)"""
REFUSED = """\
[data-plane-kafka-network-thread-1] ERROR kafka.network.Processor - Exception while processing request
org.apache.kafka.common.errors.InvalidRequestException: Error getting request for apiKey: METADATA
Caused by: java.lang.RuntimeException: Tried to allocate a collection of size 7, but there are only 3 left
\tat org.apache.kafka.common.message.MetadataRequestData.read(MetadataRequestData.java:99)"""
HEAP = """\
[data-plane-kafka-network-thread-1] ERROR kafka.network.Processor - Processor got uncaught exception
java.lang.OutOfMemoryError: Java heap space
\tat java.base/java.util.ArrayList.<init>(ArrayList.java:154)
\tat org.apache.kafka.common.message.MetadataRequestData.read(MetadataRequestData.java:99)"""
ANSWERED = Probe(True, 1.0)


def judged(name: str, observation: Observation) -> list[Verdict]:
    (oracle,) = (oracle for oracle in ORACLES if oracle.name == name)
    assert "broker" in oracle.roles
    return list(oracle.judge(observation))


FIRE = {
    "died": observed(ASK, ending="closed", death=Death(3, HEAP)),
    "hung": observed(ASK, probe=Probe(False, 5000.0, "no answer within 5 s")),
    "costly": observed(ASK, facts=((COMPUTES, [5.0, "kafka.A.f", "kafka.B.g"]),)),
    "unanswered": observed(ASK, took_ms=LIMIT_MS + 1.0, probe=ANSWERED),
    "fatal": observed(ASK, ending="closed", log=(HEAP,)),
    "logged": observed(ASK, replies=(ANSWER,), log=(NPE,)),
    "amplified": observed(ASK, replies=(ANSWER,), rss=(100 << 20, 300 << 20)),
    "server_error": observed(ASK, replies=(response(METADATA, 1, TOPIC_ERROR),)),
    "closing": observed(ASK, ending="closed"),
    "responses": observed(ASK, replies=(ANSWER[:-1],)),
    "silent": observed(ASK, facts=(("served", ["other records are served"]),)),
    "damaged": observed(ASK, probe=Probe(True, 1.0, "its records are gone")),
    "differing": observed(ASK, facts=((DIFFERS, ["so", "Metadata", "no error", "closed"]),)),
}


@pytest.mark.parametrize("name", FIRE)
def test_it_fires_once_on_what_it_is_about_and_names_itself(name: str) -> None:
    (verdict,) = judged(name, FIRE[name])
    assert verdict.oracle == name
    assert verdict.behaviour


@pytest.mark.parametrize("name", FIRE)
def test_it_is_content_with_a_request_that_was_answered(name: str) -> None:
    fine = observed(ASK, replies=(ANSWER,), probe=ANSWERED, took_ms=1.0, rss=(1 << 20, 2 << 20))
    assert not judged(name, fine)


def test_what_killed_a_process_from_outside_is_not_said_to_be_its_own_end() -> None:
    (verdict,) = judged("died", observed(ASK, death=Death(-9, "")))
    assert "signal SIGKILL, from outside" in verdict.what
    (verdict,) = judged("died", observed(ASK, death=Death(-11, "")))
    assert "from outside" not in verdict.what


def test_a_death_is_told_apart_by_its_exit_code_and_where_it_came_from() -> None:
    (verdict,) = judged("died", FIRE["died"])
    assert verdict.behaviour == (
        "exit code 3",
        "java.lang.OutOfMemoryError",
        "org.apache.kafka.common.message.*RequestData.read",
    )
    (verdict,) = judged("died", observed(ASK, death=Death(-11, "")))
    # a signal tells no place
    assert verdict.behaviour == ("signal SIGSEGV", "no stack", "Metadata", "nulls topics")


def test_an_assertion_of_c_is_told_apart_by_its_function_and_what_did_not_hold() -> None:
    words = "program: queue.c:12: push_all: Assertion `count > 0' failed."
    (verdict,) = judged("died", observed(ASK, death=Death(-6, words)))
    assert verdict.behaviour == ("signal SIGABRT", "push_all", "assertion: count > 0")


def test_long_computing_is_told_apart_by_its_place_or_by_the_case() -> None:
    (verdict,) = judged("costly", FIRE["costly"])
    assert verdict.behaviour == ("computes for seconds", "kafka.A.f", "kafka.B.g")
    (verdict,) = judged("costly", observed(ASK, facts=((COMPUTES, [5.0]),)))
    assert verdict.behaviour[1:] == ("no stack", "Metadata", "nulls topics")


def test_a_dead_broker_is_not_said_to_hang() -> None:
    dead = replace(FIRE["hung"], death=Death(3, ""))
    assert not judged("hung", dead)


def test_a_long_poll_may_wait() -> None:
    fetch = {
        "max_wait_ms": 2**31 - 1,
        "min_bytes": 1,
        "topics": [],
        "replica_id": -1,
    }
    waiting = observed(request(FETCH, 4, fetch), took_ms=LIMIT_MS + 1.0, probe=ANSWERED)
    assert not judged("unanswered", waiting)


def test_a_request_that_is_not_whole_may_be_waited_for() -> None:
    part = observed(ASK[:-1], took_ms=LIMIT_MS + 1.0, probe=ANSWERED)
    assert not judged("unanswered", part)


def test_what_was_not_waited_for_long_enough_or_closed_is_not_unanswered() -> None:
    assert not judged("unanswered", replace(FIRE["unanswered"], took_ms=400.0))
    assert not judged("unanswered", replace(FIRE["unanswered"], ending="closed"))
    assert not judged("unanswered", replace(FIRE["unanswered"], probe=None))


def test_what_refuses_bytes_is_no_unexpected_exception() -> None:
    assert not judged("logged", observed(ASK, ending="closed", log=(REFUSED,)))


def test_an_exception_is_told_apart_by_class_and_innermost_frames_of_kafka() -> None:
    (verdict,) = judged("logged", FIRE["logged"])
    assert verdict.behaviour == (
        "java.lang.NullPointerException",
        "kafka.server.metadata.ZkMetadataCache.getTopic",
        "kafka.server.KafkaApis.handleTopicMetadataRequest",
    )


def test_a_cause_counts_also_where_the_outer_exception_is_allowed() -> None:
    wrapped = REFUSED.replace("java.lang.RuntimeException", "java.lang.NegativeArraySizeException")
    (verdict,) = judged("logged", observed(ASK, ending="closed", log=(wrapped,)))
    assert verdict.behaviour[0] == "java.lang.NegativeArraySizeException"


def test_out_of_memory_is_for_its_own_oracle() -> None:
    assert not judged("logged", FIRE["fatal"])
    (verdict,) = judged("fatal", FIRE["fatal"])
    assert verdict.behaviour == (
        "java.lang.OutOfMemoryError",
        "org.apache.kafka.common.message.*RequestData.read",
    )


BARE = "[a] ERROR b - c\njava.lang.OutOfMemoryError: Java heap space"
BARE_NULL = "[a] ERROR b - c\njava.lang.NullPointerException: x"


@pytest.mark.parametrize(("name", "entry"), [("fatal", BARE), ("logged", BARE_NULL)])
def test_what_left_no_stack_is_told_apart_by_api_field_and_mutator(name: str, entry: str) -> None:
    error = entry.splitlines()[1].partition(":")[0]
    (verdict,) = judged(name, observed(ASK, log=(entry,)))
    assert verdict.behaviour == (error, "no stack", "Metadata", "nulls topics")


@pytest.mark.parametrize(("name", "entry"), [("fatal", BARE), ("logged", BARE_NULL)])
def test_what_no_one_case_shows_has_no_cases_name(name: str, entry: str) -> None:
    together = observed(ASK, log=(entry,), facts=((TOGETHER, [3, 4]),))
    (verdict,) = judged(name, together)
    assert verdict.behaviour[1:] == ("no stack", "no one case")


def test_a_stack_of_its_kind_tells_where_memory_ran_out() -> None:
    known = observed(ASK, log=(BARE,), facts=((STACK, ["kafka.A.f"]),))
    (verdict,) = judged("fatal", known)
    assert verdict.behaviour == ("java.lang.OutOfMemoryError", "kafka.A.f")


def test_what_is_served_otherwise_is_told_apart_by_field_and_mutator() -> None:
    facts = (("served", ["other records are served"]),)
    names = {
        verdict.behaviour
        for mutator in ("nulls", "deltas")
        for verdict in judged("silent", Observation(case(ASK, mutator=mutator), facts=facts))
    }
    assert names == {
        ("Produce", "other records are served", "nulls topics"),
        ("Produce", "other records are served", "deltas topics"),
    }


def test_what_a_case_was_answered_is_its_own_whatever_others_did() -> None:
    assert {one.name for one in ORACLES} > OF_REPLIES
    together = replace(FIRE["server_error"], facts=((TOGETHER, [0, 1]),), log=(BARE_NULL,))
    said = {name: whose(name, together) for name in ("server_error", "logged")}
    assert said == {"server_error": "case 0", "logged": "no one case, behind case 0"}


def test_every_exception_that_is_allowed_has_a_reason() -> None:
    assert all(CLASSES.values())
    assert all(IN_PARSING.values())


@pytest.mark.parametrize("name", IN_PARSING)
def test_what_is_allowed_in_parsing_is_not_allowed_elsewhere(name: str) -> None:
    entry = f"[a] ERROR b - c\n{name}: d\n\tat kafka.server.KafkaApis.handle(KafkaApis.scala:1)"
    assert judged("logged", observed(ASK, log=(entry,)))


def test_memory_for_what_was_sent_is_no_amplification() -> None:
    large = request(METADATA, 1, {"topics": [{"name": "x" * 30000}] * 70})
    assert len(large) > 2_000_000
    assert not judged("amplified", observed(large, rss=(100 << 20, 300 << 20)))


def test_a_heap_is_judged_where_the_process_has_grown_no_more() -> None:
    (verdict,) = judged("amplified", observed(ASK, rss=(9, 9), heap=(20 << 20, 220 << 20)))
    assert "200 MiB of heap" in verdict.what
    assert not judged("amplified", observed(ASK, rss=(9, 9), heap=(0, 90 << 20)))


def test_a_server_error_is_told_apart_by_its_place_and_what_the_log_says() -> None:
    (verdict,) = judged("server_error", replace(FIRE["server_error"], log=(NPE,)))
    assert verdict.behaviour[:3] == (
        "Metadata",
        "topics.error_code",
        "java.lang.NullPointerException",
    )


def test_what_may_be_in_a_log_is_not_why_an_error_of_the_server_was_answered() -> None:
    (verdict,) = judged("server_error", replace(FIRE["server_error"], log=(NPE, REFUSED)))
    assert verdict.behaviour[2] == "java.lang.NullPointerException"
    (verdict,) = judged("server_error", replace(FIRE["server_error"], log=(REFUSED,)))
    assert verdict.behaviour == ("Metadata", "topics.error_code")


def test_closing_on_what_no_layout_reads_is_right() -> None:
    broken = request(METADATA, 1, {"topics": None})[:-4] + b"\x7f\xff\xff\xff"
    assert not judged("closing", observed(broken, ending="closed"))


def test_answering_what_no_layout_reads_is_wrong() -> None:
    broken = request(METADATA, 1, {"topics": None})[:-4] + b"\x7f\xff\xff\xff"
    (verdict,) = judged("closing", observed(broken, replies=(ANSWER,)))
    assert verdict.behaviour[:3] == ("Metadata", "answered", "topics")


def test_answering_a_tag_that_only_newer_releases_know_is_right() -> None:
    fetch = request(
        FETCH,
        12,
        {
            "replica_id": -1,
            "max_wait_ms": 0,
            "min_bytes": 0,
            "max_bytes": 1,
            "isolation_level": 0,
            "session_id": 0,
            "session_epoch": -1,
            "topics": [],
            "forgotten_topics_data": [],
            "rack_id": "",
        },
    )
    found = {"throttle_time_ms": 0, "error_code": 0, "session_id": 0, "responses": []}
    answer = response(FETCH, 12, found)
    # tag 1 is the replica state, from version 15 on; tag 9 announces more bytes than there are
    newer, broken = (
        (len(fetch) - 2).to_bytes(4, "big") + fetch[4:-1] + bytes(tags)
        for tags in ((1, 1, 0), (1, 9, 7))
    )
    assert not judged("closing", observed(newer, replies=(answer,)))
    assert judged("closing", observed(broken, replies=(answer,)))


def test_closing_on_a_version_that_is_not_offered_is_right() -> None:
    assert not judged("closing", replace(FIRE["closing"], facts=(("unoffered", True),)))


BATCH = build([Record(0, 1000, b"k", b"v")])


def produce(version: int, records: bytes) -> bytes:
    """A request for one partition."""
    part = {"index": 0, "records": records}
    body = {
        "acks": 1,
        "timeout_ms": 1,
        "topic_data": [{"name": "t", "partition_data": [part]}],
    }
    return request(PRODUCE, version, body)


def closing_on(cause: str, *, wrapped: bool = True) -> str:
    """What a broker says that closes a connection."""
    outer = "org.apache.kafka.common.errors.InvalidRequestException: Error getting request"
    socket = "[a] ERROR Closing socket for 127.0.0.1:1-127.0.0.1:2 because of error"
    return f"{socket}\n{outer}\nCaused by: {cause}" if wrapped else f"{socket}\n{cause}"


# as Kafka 0.11.0.1 said of these
OLD = "org.apache.kafka.common.record.InvalidRecordException: Produce requests with version 3 are only"
SMALL = (
    "org.apache.kafka.common.errors.CorruptRecordException: Record size is less than the minimum"
)


@pytest.mark.parametrize(
    ("records", "cause"),
    [
        (BATCH + BATCH, f"{OLD} allowed to contain exactly one record batch"),
        (BATCH[:16] + b"\1" + BATCH[17:], f"{OLD} allowed to contain magic version 2"),
        (b"", "org.apache.kafka.common.record.InvalidRecordException: at least one record batch"),
        (BATCH[:8] + b"\0\0\0\1" + BATCH[12:], f"{SMALL} record overhead (14)"),
    ],
)
def test_closing_on_records_that_are_none_is_right(records: bytes, cause: str) -> None:
    sent = produce(3, records)
    assert judged("closing", observed(sent, ending="closed"))
    assert not judged("closing", observed(sent, ending="closed", log=(closing_on(cause),)))
    # of good records it is wrong; and who has read the request has an error code
    good = observed(produce(3, BATCH), ending="closed", log=(closing_on(cause),))
    (verdict,) = judged("closing", good)
    assert verdict.behaviour[:2] == ("Produce", "closed")
    late = closing_on(cause, wrapped=False)
    assert judged("closing", observed(sent, ending="closed", log=(late,)))
    assert judged("closing", observed(ASK, ending="closed", log=(closing_on(cause),)))


def test_closing_on_a_version_that_is_offered_only_for_show_is_right() -> None:
    cause = "org.apache.kafka.common.errors.UnsupportedVersionException: PRODUCE with version 2"
    for version, right in ((0, True), (2, True), (3, False)):
        sent = produce(version, BATCH if version >= 3 else b"")
        assert judged("closing", observed(sent, ending="closed"))
        log = (closing_on(cause, wrapped=False),)
        assert bool(judged("closing", observed(sent, ending="closed", log=log))) is not right
    assert judged("closing", observed(ASK, ending="closed", log=log))


def test_produce_without_acks_may_be_closed() -> None:
    quiet = request(PRODUCE, 3, {"acks": 0, "timeout_ms": 1, "topic_data": []})
    assert not judged("closing", observed(quiet, ending="closed"))


def test_a_response_to_another_request_is_told() -> None:
    other = response(METADATA, 1, {"brokers": [], "topics": []}, correlation_id=8)
    (verdict,) = judged("responses", observed(ASK, replies=(other,)))
    assert verdict.behaviour == ("correlation id", "Metadata")


def test_two_responses_to_one_request_are_told() -> None:
    (verdict,) = judged("responses", observed(ASK, replies=(ANSWER, ANSWER)))
    assert verdict.behaviour[0] == "more responses than requests"


def test_a_request_that_is_meant_to_change_things_damages_nothing() -> None:
    body = {"controller_id": 1, "controller_epoch": 1, "delete_partitions": False}
    stop = request(STOP_REPLICA, 0, {**body, "ungrouped_partitions": []})
    assert not judged("damaged", observed(stop, probe=Probe(True, 1.0, "its records are gone")))


def test_numbers_of_lambdas_and_lines_do_not_tell_stacks_apart() -> None:
    other = NPE.replace("$2", "$17").replace("133", "140")
    assert raised(NPE)[-1].signature == raised(other)[-1].signature


def test_what_a_future_wraps_is_judged_by_what_it_is() -> None:
    entry = "[a] ERROR k - x\njava.util.concurrent.CompletionException: {0}\nCaused by: {0}: no"
    timeout = entry.format("org.apache.kafka.common.errors.TimeoutException")
    assert not judged("logged", observed(ASK, replies=(ANSWER,), log=(timeout,)))
    null = entry.format("java.lang.NullPointerException")
    assert judged("logged", observed(ASK, replies=(ANSWER,), log=(null,)))
