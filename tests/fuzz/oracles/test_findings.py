"""What each oracle finds: an observation, and the verdict in words and by what tells it from others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from barnabas.fuzz.cases.observation import COMPUTES, DIFFERS, STACK, TOGETHER, Death, Observation
from barnabas.fuzz.observations.delayed_responses import LIMIT_MS
from barnabas.fuzz.oracles.amplified import FACTOR, GROWTH, HEAP_GROWTH, LARGEST
from barnabas.fuzz.oracles.oracle import OF_REPLIES, case_label
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.specs.keys import LIST_GROUPS, METADATA
from tests.fuzz.observed import case, request, response
from tests.fuzz.oracles import client_findings
from tests.fuzz.oracles.judging import (
    ANSWER,
    ANSWERED,
    ASK,
    ASSERTION,
    BATCH,
    DAMAGED,
    HEAP,
    HEAP_AT,
    MIB,
    NO_FRAMES,
    NOT_ANSWERED,
    NPE,
    NULL_AT,
    REFUSED,
    SIGNAL,
    judged,
    of_broker,
    of_client,
    produce,
)

TOPIC_ERROR = response(
    METADATA, 1, {"brokers": [], "topics": [{"error_code": -1, "name": "t", "partitions": []}]}
)
BARE = "[a] ERROR b - c\njava.lang.OutOfMemoryError: Java heap space"
BARE_NULL = "[a] ERROR b - c\njava.lang.NullPointerException: x"
SHARED = {TOGETHER: [3, 4]}
ENDS = "# A fatal error has been detected by the Java Runtime Environment:\nmore"
LIST = request(LIST_GROUPS, 0, {}, correlation_id=8)
CUT = request(METADATA, 1, {"topics": None})[:-4] + b"\x7f\xff\xff\xff"
AMPLE = f"{len(ASK)} bytes made it allocate"
UNREADABLE = "Metadata v1 is readable, but the connection was closed"
NO_TOPIC = "Metadata v1 was answered with UNKNOWN_SERVER_ERROR at topics.error_code"
BURST = of_broker(took_ms=LIMIT_MS, probe=ANSWERED)
BURST = replace(BURST, case=BURST.case._replace(delivery="burst"))
TRACE = """\
Traceback (most recent call last):
  File "/a/b/main.py", line 1, in main
  File "/a/b/relay.py", line 7, in run
    x
  File "/a/b/units.py", line 9, in parse
    y
ValueError: 17 is no size"""


def grown(by: int, sent: bytes = ASK, **seen: Any) -> Observation:
    """Return what was seen of a process that took so many bytes more."""
    return of_broker(sent, rss=(100 * MIB, 100 * MIB + by), **seen)


FINDINGS: dict[str, tuple[str, Observation, tuple[str, ...]]] = {
    # told apart by exit code or signal, and where it came from
    "a death with a stack": (
        "died", of_broker(ending="closed", death=Death(3, HEAP)),
        ("the process ended: exit code 3", "exit code 3", *HEAP_AT)),
    "a death without words": (
        "died", of_broker(death=Death(0, "")), ("the process ended: exit code 0", "exit code 0")),
    "a signal tells no place": (
        "died", of_broker(death=Death(-11, "")), (f"{SIGNAL} SIGSEGV", "signal SIGSEGV", *NO_FRAMES)),
    "SIGKILL comes from outside": (
        "died", of_broker(death=Death(-9, "")),
        (f"{SIGNAL} SIGKILL, from outside: the kernel, for want of memory, or somebody else",
         "signal SIGKILL", *NO_FRAMES)),
    "an assertion of C": (
        "died", of_broker(death=Death(-6, ASSERTION)),
        (f"{SIGNAL} SIGABRT", "signal SIGABRT", "push_all", "assertion: count > 0")),
    "a hang": (
        "hung", of_broker(probe=NOT_ANSWERED),
        ("a probe was not answered: no answer within 5 s", "Metadata nulls")),
    "computing at a place": (
        "costly", of_broker(facts={COMPUTES: [5.0, "kafka.A.f", "kafka.B.g"]}),
        (f"{len(ASK)} bytes had a thread compute for 5 s or more", "computes for seconds", "kafka.A.f",
         "kafka.B.g")),
    "computing anywhere": (
        "costly", of_broker(facts={COMPUTES: [5.0]}),
        (f"{len(ASK)} bytes had a thread compute for 5 s or more", "computes for seconds", *NO_FRAMES)),
    "no answer": (
        "unanswered", of_broker(took_ms=LIMIT_MS, probe=ANSWERED),
        (f"Metadata v1 was neither answered nor refused within {LIMIT_MS} ms", "Metadata")),
    "no answer to the second": (
        "unanswered", of_broker(ASK + LIST, replies=(ANSWER,), took_ms=LIMIT_MS, probe=ANSWERED),
        (f"ListGroups v0 was neither answered nor refused within {LIMIT_MS} ms", "ListGroups")),
    "no memory": (
        "fatal", of_broker(ending="closed", log=(HEAP,)), (f"{HEAP_AT[0]}: Java heap space", *HEAP_AT)),
    "no memory in last words": (
        "fatal", of_broker(death=Death(3, HEAP)), (f"{HEAP_AT[0]}: Java heap space", *HEAP_AT)),
    "no memory beside an exception": (
        "fatal", of_broker(log=(NPE, BARE)), (f"{HEAP_AT[0]}: Java heap space", HEAP_AT[0], *NO_FRAMES)),
    "no memory, where one of its kind had none": (
        "fatal", of_broker(log=(BARE,), facts={STACK: ["kafka.A.f"]}),
        (f"{HEAP_AT[0]}: Java heap space", HEAP_AT[0], "kafka.A.f")),
    "no memory behind several cases": (
        "fatal", of_broker(log=(BARE,), facts=SHARED),
        (f"{HEAP_AT[0]}: Java heap space", HEAP_AT[0], "no stack", "no one case")),
    "a JVM that ends itself": ("fatal", of_broker(log=(ENDS,)), (ENDS.splitlines()[0], "# A fatal error")),
    "an exception in the log": (
        "logged", of_broker(replies=(ANSWER,), log=(NPE,)),
        ('java.lang.NullPointerException: Cannot invoke "String.length()" because "topic" is null',
         *NULL_AT)),
    "an exception without a stack": (
        "logged", of_broker(log=(BARE_NULL,)),
        ("java.lang.NullPointerException: x", "java.lang.NullPointerException", *NO_FRAMES)),
    "an exception behind several cases": (
        "logged", of_broker(log=(BARE_NULL,), facts=SHARED),
        ("java.lang.NullPointerException: x", "java.lang.NullPointerException", "no stack", "no one case")),
    "a long message of an exception": (
        "logged", of_broker(log=(BARE_NULL + "x" * 400,)),
        ("java.lang.NullPointerException: ".ljust(300, "x"), "java.lang.NullPointerException", *NO_FRAMES)),
    "a cause that a refusal must not have": (
        "logged", of_broker(ending="closed", log=(REFUSED.replace("Runtime", "NegativeArraySize"),)),
        ("java.lang.NegativeArraySizeException: Tried to allocate a collection of size 7, but there are only"
         " 3 left", "java.lang.NegativeArraySizeException", HEAP_AT[1])),
    "memory": ("amplified", grown(GROWTH + 1, replies=(ANSWER,)), (f"{AMPLE} 64 MiB", "Metadata nulls")),
    "memory of a heap": (
        "amplified", of_broker(rss=(9, 9), heap=(20 * MIB, 220 * MIB)),
        (f"{AMPLE} 200 MiB of heap", "Metadata nulls")),
    "memory beside a heap that did not grow": (
        "amplified", grown(GROWTH + 1, heap=(9, 9)), (f"{AMPLE} 64 MiB", "Metadata nulls")),
    "memory for a size that no frame has": (
        "amplified", grown(GROWTH + 1, ASK + (LARGEST + 1).to_bytes(4)),
        (f"{len(ASK) + 4} bytes made it allocate 64 MiB", "Metadata nulls")),
    "memory for a size below zero": (
        "amplified", grown(GROWTH + 1, ASK + b"\xff\xff\xff\xff"),
        (f"{len(ASK) + 4} bytes made it allocate 64 MiB", "Metadata nulls")),
    "more memory than the frame that was announced": (
        "amplified", grown(GROWTH + LARGEST + 1, ASK + LARGEST.to_bytes(4)),
        (f"{len(ASK) + 4} bytes made it allocate 164 MiB", "Metadata nulls")),
    "an error of the server": (
        "server_error", of_broker(replies=(TOPIC_ERROR,)), (NO_TOPIC, "Metadata", "topics.error_code")),
    "an error of the server and why": (
        "server_error", of_broker(replies=(TOPIC_ERROR,), log=(NPE, REFUSED)),
        (NO_TOPIC, "Metadata", "topics.error_code", *NULL_AT)),
    "an error of the server beside what may be": (
        "server_error", of_broker(replies=(TOPIC_ERROR,), log=(REFUSED,)),
        (NO_TOPIC, "Metadata", "topics.error_code")),
    "a readable request closed on": (
        "closing", of_broker(ending="closed"), (UNREADABLE, "Metadata", "closed")),
    "a readable request reset on, and why": (
        "closing", of_broker(ending="reset", log=(REFUSED, NPE)),
        (UNREADABLE, "Metadata", "closed", *NULL_AT)),
    "an unreadable request answered": (
        "closing", of_broker(CUT, replies=(ANSWER,)),
        ("Metadata v1 was answered, though topics at byte 0: 2147483647 elements announced, 0 bytes remain",
         "Metadata", "answered", "topics", "# elements announced, # bytes remain")),
    "a response that is cut off": (
        "responses", of_broker(replies=(ANSWER[:-1],)),
        ("the response to Metadata v1 can't be decoded: topics at byte 8: 4 bytes expected for the length of"
         " the array, 3 remain", "Metadata", "topics")),
    "a response to another request": (
        "responses", of_broker(replies=(response(METADATA, 1, {}, correlation_id=8),)),
        ("Metadata was answered with another correlation id", "correlation id", "Metadata")),
    "a response to what is no request": (
        "responses", of_broker(b"\0\0\0\2\0\3", replies=(b"\xff\xff\xff\xff",)),
        ("an unknown API was answered with another correlation id", "correlation id", "an unknown API")),
    "two responses to one request": (
        "responses", of_broker(replies=(ANSWER, ANSWER)),
        ("2 responses to 1 request", "more responses than requests", "Metadata")),
    "a response to no request": (
        "responses", of_broker(produce(3, BATCH, acks=0), replies=(ANSWER,)),
        ("1 response to 0 requests", "more responses than requests", "")),
    "a response of a negative size": (
        "responses", of_broker(facts={"garbled": True}),
        ("a response of a negative size", "negative size")),
    "other records served": (
        "silent", of_broker(facts={"served": ["other records are served"]}),
        ("a batch was accepted, and then: other records are served", "Produce", "other records are served",
         "nulls topics")),
    "other records served, behind another mutator": (
        "silent", Observation(case(ASK, mutator="deltas"), facts=(("served", ["none"]),)),
        ("a batch was accepted, and then: none", "Produce", "none", "deltas topics")),
    "others damaged": (
        "damaged", of_broker(probe=replace(DAMAGED, problem="-3 of 5 are gone")),
        ("another client: -3 of 5 are gone", "Metadata", "# of # are gone")),
    "two brokers": ("differing", of_broker(facts={DIFFERS: ["so", "Metadata", 7]}), ("so", "Metadata", "7")),
    "a traceback": (
        "traceback", of_broker(log=("listening", TRACE)),
        ("it printed ValueError: 17 is no size", "ValueError", "units.py:parse", "relay.py:run")),
    "what a decoder reads otherwise the second time": (
        "round_trip", of_broker(facts={"ours": ["x"], "otherwise": ["topics", "_tags"]}),
        ("Metadata request: topics, _tags differ", "Metadata", "request", "topics", "_tags")),
    "what a decoder does not document": (
        "undocumented", of_broker(raised="KeyError: 7\n  a.py:f\n  b.py:g\n  c.py:h"),
        ("it raised KeyError: 7", "KeyError", "a.py:f", "b.py:g")),
    "a decoder that was given up": (
        "undocumented", of_broker(raised="GaveUp: after 5 s\n  a.py:f"),
        ("it raised GaveUp: after 5 s", "GaveUp", "no stack", "Metadata", "nulls topics")),
    "time of a decoder": (
        "greedy", of_broker(bytes(100), took_ms=2002.1),
        ("2002 ms for 100 bytes", "time", "Produce", "request")),
    "memory of a decoder": (
        "greedy", of_broker(bytes(1 << 20), rss=(7 * MIB, 391 * MIB + 1)),
        ("384 MiB for 1048576 bytes", "memory", "Produce", "request")),
}  # fmt: skip
"""What it is -> (the oracle, the observation, the one verdict: words, and what tells it from others)."""

NOTHING: dict[str, tuple[str, Observation]] = {
    "what a future wraps": ("logged", of_broker(log=(
        "[a] ERROR k - x\njava.util.concurrent.CompletionException: x\n"
        "Caused by: org.apache.kafka.common.errors.TimeoutException: no",))),
    "what refuses bytes": ("logged", of_broker(ending="closed", log=(REFUSED,))),
    "out of memory is fatal's": ("logged", of_broker(log=(HEAP,))),
    "an exception is logged's": ("fatal", of_broker(log=(NPE,))),
    "as much memory as may be": ("amplified", grown(GROWTH)),
    "as much memory of a heap as may be": ("amplified", of_broker(rss=(9, 9), heap=(0, HEAP_GROWTH))),
    "as much memory as the bytes justify": ("amplified", grown(FACTOR * 2**20, bytes(2**20))),
    "the buffer of a frame of which the size came": (
        "amplified", grown(GROWTH + LARGEST, b"\0\0\0\0" + ASK + LARGEST.to_bytes(4))),
    "the buffer of a frame that is cut off": (
        "amplified", grown(GROWTH + 1000, (1000).to_bytes(4) + bytes(997))),
    "a hang behind a death": ("hung", of_broker(probe=NOT_ANSWERED, death=Death(3, ""))),
    "a request that is not whole": ("unanswered", of_broker(ASK[:-1], took_ms=LIMIT_MS, probe=ANSWERED)),
    "not waited for long enough": ("unanswered", of_broker(took_ms=LIMIT_MS - 1, probe=ANSWERED)),
    "closed": ("unanswered", of_broker(took_ms=LIMIT_MS, probe=ANSWERED, ending="closed")),
    "not probed": ("unanswered", of_broker(took_ms=LIMIT_MS)),
    "one of a burst": ("unanswered", BURST),
    "all answered": ("unanswered", of_broker(replies=(ANSWER,), took_ms=LIMIT_MS, probe=ANSWERED)),
    "closed on what no layout reads": ("closing", of_broker(CUT, ending="closed")),
    "closed on a Produce that wants no answer": ("closing", of_broker(produce(3, BATCH, 0), ending="closed")),
    "a correlation id below zero": (
        "responses", of_broker(request(METADATA, 1, {"topics": None}, correlation_id=-2),
                               replies=(b"\xff\xff\xff\xfe" + ANSWER[4:],))),
    "no difference": ("differing", of_broker(facts={DIFFERS: []})),
    "no difference, in another form": ("differing", of_broker(facts={DIFFERS: "so"})),
    "other lines of a log": ("traceback", of_broker(log=("WARNING: x", "[x] ERROR Traceback"))),
    "nothing otherwise": ("round_trip", of_broker(facts={"otherwise": [], "served": ["x"]})),
    "otherwise, in another form": ("round_trip", of_broker(facts={"otherwise": "x"})),
    "as much time as a decoder may take": ("greedy", of_broker(bytes(100), took_ms=2002.0)),
    "as much memory as a decoder may take": ("greedy", of_broker(bytes(1 << 20), rss=(7 * MIB, 391 * MIB))),
}  # fmt: skip
"""What it is -> (the oracle, an observation of which it says nothing)."""


ALL_FINDINGS = FINDINGS | client_findings.FINDINGS
ALL_NOTHING = NOTHING | client_findings.NOTHING


@pytest.mark.parametrize("name", ALL_FINDINGS)
def test_a_finding(name: str) -> None:
    oracle, observation, verdict = ALL_FINDINGS[name]
    assert judged(oracle, observation) == [verdict]


@pytest.mark.parametrize("name", ALL_NOTHING)
def test_no_finding(name: str) -> None:
    assert judged(*ALL_NOTHING[name]) == []


def test_each_oracle_has_a_finding_and_none_with_what_is_fine() -> None:
    names = {one.name for one in ORACLES if one.roles != {"client"}}
    assert {oracle for oracle, _, _ in FINDINGS.values()} == names
    fine = of_broker(replies=(ANSWER,), probe=ANSWERED, took_ms=1.0, rss=(MIB, 2 * MIB))
    assert [judged(one.name, fine) for one in ORACLES] == [[] for _ in ORACLES]


def test_what_a_case_was_answered_is_its_own_whatever_others_did() -> None:
    assert {one.name for one in ORACLES} > OF_REPLIES
    shared = of_broker(facts=SHARED)
    assert [case_label(name, shared) for name in ("server_error", "logged")] == [
        "case 0",
        "not attributable to one case; first seen after case 0",
    ]


def test_each_oracle_of_clients_has_a_finding_and_none_with_a_client_that_does_nothing_more() -> (
    None
):
    names = {one.name for one in ORACLES if "client" in one.roles}
    assert {oracle for oracle, _, _ in client_findings.FINDINGS.values()} == names
    still = of_client(facts={"served": True, "records": 0}, rss=(MIB, 2 * MIB))
    assert [judged(name, still) for name in names] == [[] for _ in names]
