"""Findings of one error at one place are together, whoever judged and whatever was changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from barnabas.fuzz.cases.case import Case, Change, Recipe, Seed
from barnabas.fuzz.cases.observation import Death, Observation
from barnabas.fuzz.database.finding import Finding
from barnabas.fuzz.report.cause import (
    CRASH,
    READING,
    Cause,
    cause,
    count_unshrunk,
    groups,
    representative,
)
from barnabas.fuzz.report.title import heading, title, upon

READ = ("kafka.A.read", "kafka.B.handle")
RECIPE = Recipe(Seed(3, 1, "request", bytes(10), ""), ())
FINDING = Finding(
    1, "a", "logged", ("java.lang.Error", *READ), "", 2, 0, RECIPE,
    Observation(Case(0, RECIPE, (b"",))), b"", None,
)  # fmt: skip


@pytest.mark.parametrize(
    ("oracle", "behaviour"),
    [
        ("logged", ("java.lang.Error", *READ)),
        ("logged", ("java.lang.Error", "kafka.A.read", "kafka.C.other")),
        ("fatal", ("java.lang.Error", *READ)),
        ("server_error", ("Fetch", "responses.partitions.error_code", "java.lang.Error", *READ)),
        ("closing", ("Produce", "closed", "java.lang.Error", *READ)),
        ("unanswered", ("Produce", "java.lang.Error", *READ)),
        ("died", ("exit code 3", "java.lang.Error", *READ)),
    ],
)
def test_an_error_at_a_place_is_one_cause(oracle: str, behaviour: tuple[str, ...]) -> None:
    assert cause(oracle, behaviour) == Cause("java.lang.Error", "kafka.A.read", "")


@pytest.mark.parametrize(
    ("oracle", "behaviour", "expected"),
    [
        ("client-died", ("assertion: p", "rd_kafka_fetch"), (CRASH, "rd_kafka_fetch", "")),
        ("client-raised", ("struct.error", "a/record.py:read"), (READING, "a/record.py:read", "")),
        ("client-raised", ("TypeError", "a/record.py:read"), (READING, "a/record.py:read", "")),
        ("client-raised", ("TypeError", "a.py:<listcomp>", "kafka/protocol/x.py:decode", "b.py:read"),
         (READING, "b.py:read", "")),
        ("died", ("signal SIGABRT", "rd_a", "rd_b", "assert: x"), ("assert: x", "rd_a", "")),
        ("died", ("exit code 2",), ("exit code 2", "", "died")),
        # of a signal the API and the field follow
        ("client-died", ("signal SIGSEGV", "Fetch", "last_offset"), ("signal SIGSEGV", "", "client-died")),
        ("died", ("signal SIGSEGV", "no stack", "Fetch", "a_b c"), ("signal SIGSEGV", "", "died")),
        ("fatal", ("java.lang.OutOfMemoryError", "no stack", "Fetch", "lengths key.length"),
         ("java.lang.OutOfMemoryError", "", "fatal")),
        ("undocumented", ("KeyError", "fetch.py:read", "base.py:get"), ("KeyError", "fetch.py:read", "")),
        ("client-memory", ("lengths key.length",), ("", "", "client-memory")),
        ("server_error", ("Metadata", "topics.error_code"),
         ("Metadata, topics.error_code", "", "server_error")),
        ("closing", ("Fetch", "answered", "topics.name", "null # times"),
         ("answered", "null # times", "closing")),
        ("evil", ("<script>",), ("<script>", "", "evil")),
        ("evil", (), ("", "", "evil")),
    ],
)  # fmt: skip
def test_what_is_known_of_others(
    oracle: str, behaviour: tuple[str, ...], expected: tuple[str, str, str]
) -> None:
    assert cause(oracle, behaviour) == Cause(*expected)


FETCHED = "Fetch records"


@pytest.mark.parametrize(
    ("oracle", "behaviour", "expected"),
    [
        # helpers alone name nothing: the message and the field do
        ("client-died", ("assertion: p", "rd_calloc"),
         ("assertion: p", "rd_calloc", "", "Fetch records")),
        ("client-died", ("signal SIGSEGV", "Fetch", "key.length"),
         ("signal SIGSEGV", "", "client-died", "Fetch records")),
        ("fatal", ("java.lang.OutOfMemoryError", "no stack", "Fetch", "lengths key.length"),
         ("java.lang.OutOfMemoryError", "", "fatal", "Fetch records")),
        ("client-memory", ("lengths key.length",), ("", "", "client-memory", "Fetch records")),
        ("client-raised", ("struct.error", "kafka/protocol/types.py:decode"),
         (READING, "", "", "Fetch records")),
        ("client-raised", ("TypeError", "kafka/protocol/types.py:decode"),
         ("TypeError", "kafka/protocol/types.py:decode", "", "Fetch records")),
        ("client-raised", ("java.lang.OutOfMemoryError", "org.jpype.ref.Queue.add"),
         ("java.lang.OutOfMemoryError", "", "", "Fetch records")),
        # who calls a helper names the bug
        ("client-died", ("assertion: p", "rd_calloc", "rd_kafka_fetch"), (CRASH, "rd_kafka_fetch", "")),
        ("logged", ("java.io.EOFException", "org.apache.kafka.common.utils.Utils.read", "kafka.A.f"),
         (READING, "kafka.A.f", "")),
        ("logged", ("java.lang.NullPointerException", "org.apache.kafka.common.utils.Utils.read",
                    "kafka.A.f"),
         ("java.lang.NullPointerException", "kafka.A.f", "")),
        ("fatal", ("java.lang.Error", "org.apache.kafka.common.utils.Utils.read", "kafka.A.f"),
         ("java.lang.Error", "kafka.A.f", "")),
    ],
)  # fmt: skip
def test_helpers_name_no_cause(
    oracle: str, behaviour: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert cause(oracle, behaviour, FETCHED) == Cause(*expected)


def hanging(name: str, field: str, *stack: str) -> Finding:
    """Return a finding of a client that computes without end."""
    calls = "\n".join(f"a/k.{function}()" for function in stack)
    dump = f"goroutine 1 [select]:\na/k.wait()\n\ngoroutine 7 [runnable]:\n{calls}\n"
    recipe = RECIPE._replace(changes=(Change("counts", field, 1),))
    facts = ("spins", True), ("stack", dump if stack else "")
    seen = replace(FINDING.observation, facts=facts)
    behaviour = ("Metadata", "computes", field)
    return replace(
        FINDING,
        name=name,
        oracle="client-hung",
        behaviour=behaviour,
        recipe=recipe,
        observation=seen,
    )


def test_hangs_in_one_loop_are_one_group_whatever_the_loop_was_calling() -> None:
    hangs = [
        hanging("a", "_tags.count", "readTags", "readFetch"),
        hanging("b", "size", "set", "readTags", "readProduce"),
        hanging("c", "_tags.count", "readTags", "readVote"),
        hanging("d", "_tags.count"),  # no stack: the same field hangs in that loop
        hanging("e", "topics.count", "readTopics", "readFetch"),
        hanging("f", "name"),
    ]
    assert [(group.cause.frame, len(group.findings)) for group in groups(hangs)] == [
        ("a/k.readTags", 4),
        ("a/k.readTopics", 1),
        ("", 1),
    ]
    assert [heading(group) for group in groups(hangs)] == [
        "the client hangs and computes in k.readTags",
        "the client hangs and computes in k.readTopics",
        "the client hangs and computes (Metadata)",
    ]


def test_clients_that_wait_are_told_apart_by_api_since_all_wait_in_one_loop() -> None:
    spinning = hanging("a", "name", "poll")
    waiting = [
        replace(
            spinning, name=name, behaviour=(name, "waits", "name"),
            recipe=RECIPE._replace(seed=replace(RECIPE.seed, key=key)),
            observation=replace(spinning.observation, facts=spinning.observation.facts[1:]),
        )
        for name, key in (("Fetch", 1), ("Metadata", 3))
    ]  # fmt: skip
    assert [heading(group) for group in groups(waiting)] == [
        f"the client hangs and waits in k.wait ({name})" for name in ("Fetch", "Metadata")
    ]


def test_a_client_that_waits_without_a_stack_is_of_the_cause_of_its_api() -> None:
    waits = replace(
        hanging("a", "name", "poll"), behaviour=("Metadata", "waits", "name"),
    )  # fmt: skip
    facts = ("stack", dict(waits.observation.facts)["stack"])
    framed = replace(waits, observation=replace(waits.observation, facts=(facts,)))
    bare = replace(framed, name="b", observation=replace(framed.observation, facts=()))
    (group,) = groups([framed, bare])
    assert heading(group) == "the client hangs and waits in k.wait (Metadata)"


def test_an_error_code_without_a_stack_is_of_the_cause_that_has_one() -> None:
    path = ("Produce", "responses.error_code")
    logged = replace(FINDING, name="a", cases=3)
    coded = replace(FINDING, name="b", oracle="server_error", behaviour=(*path, *FINDING.behaviour))
    bare = replace(coded, name="c", behaviour=path)
    other = replace(coded, name="d", behaviour=("Fetch", "error_code"))
    first, second = groups([logged, coded, bare, other])
    assert [finding.name for finding in first.findings] == ["b", "c", "a"]
    assert (first.severity, first.cases) == ("undocumented error", 4)
    assert [finding.name for finding in second.findings] == ["d"]


def test_a_function_in_c_that_dies_in_several_ways_is_one_cause() -> None:
    asserts = replace(
        FINDING, oracle="client-died", behaviour=("assertion: p", "rd_calloc", "rd_kafka_parse")
    )
    faults = replace(
        asserts, name="b", cases=7,
        behaviour=("Fatal Python error: Segmentation fault", "rd_kafka_op_destroy", "rd_kafka_parse"),
    )  # fmt: skip
    corrupts = replace(asserts, name="c", behaviour=("heap corruption", "Metadata", "x"))
    grows = replace(asserts, name="d", oracle="client-memory", behaviour=("counts x",))
    (group,) = groups([asserts, faults, corrupts, grows])
    assert heading(group) == "rd_kafka_parse dies of a segmentation fault"
    other = replace(grows, recipe=RECIPE._replace(seed=replace(RECIPE.seed, key=1)))
    assert len(groups([asserts, other])) == 2


def test_a_batch_that_can_t_be_read_is_one_cause_whatever_our_decoder_says() -> None:
    said = "it can't be read: # bytes announced", "it can't be read: unknown header flags set"
    causes = {cause("silent", ("Produce", reason, "bit_flips unpacked")) for reason in said}
    assert causes == {Cause("it can't be read", "", "silent")}


def test_a_closed_connection_without_a_stack_is_of_the_cause_that_has_one() -> None:
    closed = replace(
        FINDING, oracle="closing", behaviour=("CreateAcls", "closed", *FINDING.behaviour)
    )
    (group,) = groups([closed, replace(closed, name="b", behaviour=("CreateAcls", "closed"))])
    assert group.cause.frame == "kafka.A.read"


def test_errors_that_helpers_raise_are_one_group_with_their_caller() -> None:
    stream = "org.apache.kafka.common.utils.ChunkedBytesStream.fill"
    errors = ("java.io.IOException", "java.util.zip.ZipException", "java.io.EOFException")
    findings = [
        replace(FINDING, name=error, behaviour=(error, stream, "kafka.A.f")) for error in errors
    ]
    (group,) = groups(findings)
    assert heading(group) == "A.f lets out IOException, ZipException and 1 more"
    (group,) = groups([replace(findings[0], behaviour=(errors[0], stream))])
    assert heading(group) == "the broker lets out IOException (Metadata)"
    assert title(findings[1]).startswith("A.f throws ZipException on ")


def test_one_of_a_group_is_made_smaller_for_all() -> None:
    gone = replace(FINDING, observation=replace(FINDING.observation, death=Death(None, "")))
    same = replace(FINDING, name="c", behaviour=("java.lang.Error", "kafka.A.read"))
    other = replace(FINDING, name="b", behaviour=("java.lang.Error", "kafka.C.write"))
    (group, _) = groups([FINDING, same, other])
    assert representative(group) == FINDING
    assert count_unshrunk([FINDING, same, other]) == 2
    (group,) = groups([gone, same])
    assert representative(group) == same, "what ended a target that nobody can start again is left"
    (group,) = groups([FINDING, replace(same, smaller=RECIPE)])
    assert representative(group) == replace(same, smaller=RECIPE)
    assert count_unshrunk(group.findings) == 0
    (group,) = groups([gone])
    assert (representative(group), count_unshrunk([gone])) == (None, 0)


def test_the_gravest_come_first() -> None:
    closing = replace(FINDING, name="b", oracle="closing", behaviour=("Fetch", "closed"))
    died = replace(FINDING, name="c", oracle="died", behaviour=("exit code 2",))
    assert [group.findings[0].name for group in groups([closing, FINDING, died])] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("oracle", "one", "other"),
    [
        ("differing", ("Produce", "no error", "CORRUPT_MESSAGE"), ("Produce", "died", "closed")),
        (
            "silent",
            ("Produce", "records announced", "nulls"),
            ("Produce", "other records", "nulls"),
        ),
        ("responses", ("correlation id", "Fetch"), ("correlation id", "Produce")),
        ("damaged", ("Fetch", "its records are gone"), ("Fetch", "its records have changed")),
    ],
)
def test_what_two_errors_of_an_oracle_say_is_not_one_cause(
    oracle: str, one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    assert cause(oracle, one) != cause(oracle, other)


@pytest.mark.parametrize(
    ("oracle", "behaviour", "said"),
    [
        ("client-died", ("panic: runtime error: out of range", "github.com/a/b.(*C).read"),
         "b.(*C).read panics (out of range)"),
        ("client-died", ("fatal error: out of memory", "github.com/a/b.read"), "b.read runs out of memory"),
        ("client-died", ("panic: x", "github.com/a/b.decode[...]"), "b.decode panics (x)"),
        ("client-died", ("assertion: p", "rd_kafka_fetch"), "rd_kafka_fetch fails an assertion (p)"),
        ("client-died", ("assert: len > N", "rd_kafka_fetch"), "rd_kafka_fetch fails an assertion (len > N)"),
        ("client-died", ("no queue left", "rd_kafka_fetch"), "rd_kafka_fetch dies (no queue left)"),
        ("client-raised", ("struct.error", "lib/record.py:read"), "record.py:read lets out struct.error"),
        ("died", ("signal SIGABRT", "rd_a", "rd_b", "assert: x"), "rd_a fails an assertion (x)"),
        ("client-died", ("signal SIGSEGV", "Fetch", "x"), "the client dies of signal SIGSEGV"),
        ("client-died", ("Fatal Python error: Segmentation fault", "rd_kafka_fetch"),
         "rd_kafka_fetch dies of a segmentation fault"),
        ("client-died", ("heap corruption", "Metadata", "x"), "the client dies (heap corruption)"),
        ("died", ("exit code 3",), "the broker dies of exit code 3"),
        ("logged", ("java.lang.Error", "org.apache.kafka.common.*Request.<init>"),
         "*Request.<init> throws Error"),
        ("undocumented", ("KeyError", "fetch.py:read"), "fetch.py:read raises KeyError"),
        ("undocumented", ("KeyError",), "what was said"),
    ],
)  # fmt: skip
def test_who_did_what(oracle: str, behaviour: tuple[str, ...], said: str) -> None:
    finding = replace(FINDING, oracle=oracle, behaviour=behaviour, what="what was said")
    well_formed = "a well-formed Metadata v1 request"
    raised = said.replace("lets out", "raises")
    assert title(finding) in (f"{raised} on {well_formed}", f"{said} ({well_formed})")
    assert heading(groups([finding])[0]).removesuffix(" (Metadata)") == said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change("lengths", "r[1].records[0].length", 1, "-1 (-1) instead of 5"), "a records[] length of -1"),
        (Change("lengths", "a.b.length", 1, "something else"),
         "a length that differs from the number of bytes at b.length"),
        (Change("noise", "", 1, "9 bytes"), "random bytes instead of a body"),
        (Change("gone", "a.b.c", 1), "gone at b.c"),
    ],
)  # fmt: skip
def test_upon_what(change: Change, said: str) -> None:
    assert upon(RECIPE._replace(changes=(change,))) == f"{said} in a Metadata v1 request"
    both = RECIPE._replace(changes=(Change("nulls", "x", 0), change))
    assert upon(both) == f"{said} and 1 more in a Metadata v1 request"
