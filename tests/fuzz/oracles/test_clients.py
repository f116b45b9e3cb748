"""What is wrong with a client, and what is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from barnabas.fuzz.cases.case import Case, Change, Recipe, Seed
from barnabas.fuzz.cases.observation import DIFFERS, SPINS, Death, Observation, Probe
from barnabas.fuzz.observations.client_memory import LIMIT
from barnabas.fuzz.oracles.client_died import CLIENT_DIED
from barnabas.fuzz.oracles.client_hung import CLIENT_HUNG
from barnabas.fuzz.oracles.client_memory import CLIENT_MEMORY
from barnabas.fuzz.oracles.client_raised import CLIENT_RAISED
from barnabas.fuzz.oracles.clients_differ import CLIENTS_DIFFER
from barnabas.fuzz.oracles.documented import DOCUMENTED
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.specs.keys import FIND_COORDINATOR
from tests.fuzz.observed import response

SEED = Seed(1, 12, "response", bytes(9), "tests")
CHANGE = Change("counts", "responses[0].partitions[1]._tags.count", 7)
PANIC = """panic: runtime error: slice bounds out of range [:-5] [recovered]
\tpanic: again

goroutine 23 [running]:
panic({0x7f5a20?, 0xc000026300?})
\t/usr/local/go/src/runtime/panic.go:860 +0x13a
encoding/binary.bigEndian.Uint32(...)
\t/usr/local/go/src/encoding/binary/binary.go:79
github.com/own/client.(*decoder).read(0xc0001, {0x1, 0x2})
\t/root/go/pkg/mod/github.com/own/client/decoder.go:123 +0x1d
github.com/own/client.decode[...](0x7)
\t/root/go/pkg/mod/github.com/own/client/decode.go:9 +0x2
main.consume()
\t/x/sessions.go:9 +0x2
created by github.com/own/client.start in goroutine 1
\t/x/y.go:1 +0x2

goroutine 1 [select]:
github.com/own/client.other()
"""


def _seen(path: str = CHANGE.path, **rest: Any) -> Observation:
    case = Case(3, Recipe(SEED, (CHANGE._replace(path=path),)), (b"chunk",))
    facts = tuple(rest.pop("facts", {}).items())
    return Observation(case, facts=facts, **rest)


def test_all_are_on_the_contents_page() -> None:
    own = {CLIENT_DIED, CLIENT_RAISED, CLIENT_MEMORY, CLIENT_HUNG, CLIENTS_DIFFER}
    assert own <= set(ORACLES)


def test_what_two_made_of_an_answer_is_told_as_it_was_found() -> None:
    seen = _seen(facts={DIFFERS: ["a accepts what b refuses", "Fetch: so", "count"]})
    (verdict,) = CLIENTS_DIFFER.judge(seen)
    assert (verdict.what, verdict.behaviour) == (
        "a accepts what b refuses",
        ("Fetch: so", "count"),
    )


def test_nothing_is_wrong_with_a_client_that_does_nothing_more() -> None:
    fine = _seen(facts={"served": True, "records": 0}, rss=(1 << 20, 2 << 20))
    oracles = [one for one in ORACLES if "client" in one.roles]
    assert oracles
    assert not [verdict for one in oracles for verdict in one.judge(fine)]


def test_a_panic_is_known_by_its_reason_and_the_clients_own_frames() -> None:
    (verdict,) = CLIENT_DIED.judge(_seen(death=Death(2, PANIC)))
    assert verdict.behaviour == (
        "panic: runtime error: slice bounds out of range [:N]",
        "encoding/binary.bigEndian.Uint32",
        "github.com/own/client.(*decoder).read",
        "github.com/own/client.decode[...]",
    )
    other = PANIC.replace("[:-5]", "[:77]").replace(".go:123", ".go:9").replace("0xc0001", "0xd")
    assert list(CLIENT_DIED.judge(_seen(death=Death(2, other)))) == [verdict]


@pytest.mark.parametrize(
    ("words", "reason"),
    [("", "signal SIGSEGV"), ("free(): invalid size\n", "free(): invalid size")],
)
def test_a_death_that_names_no_place_is_known_by_the_api_and_the_field(
    words: str, reason: str
) -> None:
    (verdict,) = CLIENT_DIED.judge(_seen(death=Death(-11, words)))
    assert verdict.behaviour == (reason, "Fetch", "_tags.count")


def test_an_exit_code_without_words_is_known_by_itself() -> None:
    (verdict,) = CLIENT_DIED.judge(_seen(death=Death(3, "")))
    assert verdict.behaviour == ("exit code 3",)


def test_a_fault_is_known_by_the_frames_that_are_not_the_programs() -> None:
    words = """Fatal Python error: Segmentation fault

Current thread 0x00007f665be05b80 (most recent call first):
  File "/v/lib/python3.11/site-packages/own/admin.py", line 331 in list_groups
  File "/x/programs/with_own.py", line 155 in admin
"""
    (verdict,) = CLIENT_DIED.judge(_seen(death=Death(-11, words)))
    assert verdict.behaviour == (
        "Fatal Python error: Segmentation fault",
        "own/admin.py:list_groups",
    )


def test_an_assertion_of_c_is_known_by_what_did_not_hold() -> None:
    words = (
        "client: reader.c:87: read_set: Assertion `size > 0' failed.\nFatal Python error: Aborted\n"
    )
    (verdict,) = CLIENT_DIED.judge(_seen(death=Death(-6, words)))
    assert verdict.behaviour == ("assertion: size > 0", "read_set")


@pytest.mark.parametrize(
    ("code", "words", "count"), [(1, "no broker", 0), (2, PANIC, 1), (-6, "", 1)]
)
def test_a_command_of_the_users_may_fail(code: int, words: str, count: int) -> None:
    seen = _seen(death=Death(code, words), facts={"each": True})
    assert len(list(CLIENT_DIED.judge(seen))) == count


def _raised(dialect: str, *bases: str, where: str = "call") -> Observation:
    frames = ["client/parser.py:read", "client/conn.py:recv", "client/a.py:poll", "client/b.py:x"]
    facts = {"dialect": dialect, "bases": [*bases], "frames": frames, "where": where}
    return _seen(raised=f"{bases[0]}: 17 of 3\n {frames[0]}", facts=facts)


def test_an_undocumented_exception_is_known_by_class_and_innermost_frames() -> None:
    (verdict,) = CLIENT_RAISED.judge(_raised("kafka-python", "struct.error", "Exception"))
    assert verdict.behaviour == (
        "struct.error",
        "client/parser.py:read",
        "client/conn.py:recv",
        "client/a.py:poll",
    )
    assert "17 of 3" in verdict.what


@pytest.mark.parametrize(("dialect", "base"), [(name, base) for name, base, _ in DOCUMENTED])
def test_what_a_client_documents_may_leave_it(dialect: str, base: str) -> None:
    assert not list(CLIENT_RAISED.judge(_raised(dialect, "own.Derived", base, "Exception")))
    assert list(CLIENT_RAISED.judge(_raised("another", "own.Derived", base, "Exception")))


def test_memory_above_the_limit_is_a_finding_of_the_field() -> None:
    alone = {"confirmed": True}
    assert not list(CLIENT_MEMORY.judge(_seen(rss=(LIMIT, 2 * LIMIT - 1), facts=alone)))
    (verdict,) = CLIENT_MEMORY.judge(_seen(rss=(10, 10 + LIMIT), facts=alone))
    assert verdict.behaviour == ("counts _tags.count",)


def test_memory_that_the_case_alone_does_not_take_is_of_one_before_it() -> None:
    assert not list(CLIENT_MEMORY.judge(_seen(rss=(10, 10 + LIMIT), facts={"confirmed": False})))


def test_only_a_hang_that_was_seen_twice_counts() -> None:
    probe = Probe(False, 4000.0, "a session had not ended after 4 s")
    once = _seen(probe=probe, facts={"confirmed": False})
    assert not list(CLIENT_HUNG.judge(once))
    twice = replace(once, facts=(("confirmed", True),))
    (verdict,) = CLIENT_HUNG.judge(twice)
    assert verdict.behaviour == ("Fetch", "waits", "counts _tags.count")
    (verdict,) = CLIENT_HUNG.judge(replace(twice, facts=(*twice.facts, (SPINS, True))))
    assert verdict.behaviour == ("Fetch", "computes", "counts _tags.count")
    assert not list(CLIENT_HUNG.judge(replace(twice, probe=Probe(True, 1.0))))


def test_who_was_told_to_wait_may_wait() -> None:
    seen = _seen("throttle_time_ms", probe=Probe(False, 4000.0, "late"), facts={"confirmed": True})
    assert not list(CLIENT_HUNG.judge(seen))


@pytest.mark.parametrize(("throttled", "count"), [(8196, 0), (0, 1), (-1, 1)])
def test_who_is_told_to_wait_by_whatever_was_changed_may_wait(throttled: int, count: int) -> None:
    body = {
        "throttle_time_ms": throttled,
        "error_code": 0,
        "error_message": None,
        "node_id": 0,
        "host": "127.0.0.1",
        "port": 0,
    }
    seen = _seen("", probe=Probe(False, 4000.0, "late"), facts={"confirmed": True})
    asked = Seed(FIND_COORDINATOR, 1, "response", b"", "tests")
    sent = response(FIND_COORDINATOR, 1, body)
    chunks = (len(sent).to_bytes(4, "big"), sent)
    case = Case(3, Recipe(asked, seen.case.recipe.changes), chunks)
    assert len(list(CLIENT_HUNG.judge(replace(seen, case=case)))) == count
