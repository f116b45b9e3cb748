"""A title says who did what, and upon what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from barnabas.fuzz.cases.case import Change
from barnabas.fuzz.report.cause import groups
from barnabas.fuzz.report.title import heading, title, upon
from tests.fuzz.report.test_cause import FINDING, RECIPE


@pytest.mark.parametrize(
    ("oracle", "behaviour", "said"),
    [
        ("client-died", ("panic: runtime error: out of range", "github.com/a/b.(*C).read"),
         "b.(*C).read panics (out of range)"),
        ("client-died", ("fatal error: out of memory", "github.com/a/b.read"), "b.read runs out of memory"),
        ("client-died", ("assertion: p", "rd_calloc"), "rd_calloc fails an assertion (p)"),
        ("client-died", ("assert: len > N", "rd_kafka_buf"), "rd_kafka_buf fails an assertion (len > N)"),
        ("client-died", ("no queue left", "rd_kafka_q"), "rd_kafka_q dies (no queue left)"),
        ("client-raised", ("struct.error", "lib/record.py:read"), "record.py:read raises struct.error"),
        ("died", ("signal SIGABRT", "rd_a", "rd_b", "assert: x"), "rd_a fails an assertion (x)"),
        ("client-died", ("signal SIGSEGV", "Fetch", "x"), "the client dies of signal SIGSEGV"),
        ("died", ("exit code 3",), "the broker dies of exit code 3"),
        ("logged", ("java.lang.Error", "org.apache.kafka.common.*Request.<init>"),
         "Request.<init> throws Error"),
        ("undocumented", ("KeyError", "fetch.py:read"), "fetch.py:read raises KeyError"),
        ("undocumented", ("KeyError",), "what was said"),
    ],
)  # fmt: skip
def test_who_did_what(oracle: str, behaviour: tuple[str, ...], said: str) -> None:
    finding = replace(FINDING, oracle=oracle, behaviour=behaviour, what="what was said")
    well_formed = "a well-formed Metadata v1 request"
    assert title(finding) in (f"{said} on {well_formed}", f"{said} ({well_formed})")
    assert heading(groups([finding])[0]) == said


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
