"""The types of what a server of tests answers. Times are ISO 8601, durations in ms, sizes in bytes."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from barnabas.captures.kafka.columns import Row
from barnabas.page.answers.common import Json, Side
from barnabas.page.answers.rules import Rule


class Exchange(Row):
    """A request and what came of it: the columns of the JSON log, when it was over, a few words on what it is
    about, and how it ended."""

    sasl: NotRequired[str]
    payload: NotRequired[dict[str, dict[str, str]]]
    too_large: NotRequired[list[Side]]
    ended: str
    details: str
    note: str


class Evidence(TypedDict):
    """An exchange that shows what is wrong; rules: of the proxy, that fired on it."""

    ts: str
    connection: int
    client: str
    api: str
    version: int
    correlation_id: int
    packets: list[int]
    rules: list[str]


class Finding(TypedDict):
    """What a check finds: what is wrong, and what to do about it."""

    check: str
    severity: Literal["error", "warning", "note"]
    ts: str
    what: str
    advice: str
    frames: list[int]
    evidence: list[Evidence]


class Ended(TypedDict):
    """What is said of a test that is over; `status` as of its proxy. findings: null if a check failed, which
    `said` has then; findings_left_out: how many more there are."""

    why: str
    status: Json
    rules: list[Rule]
    findings: list[Finding] | None
    findings_left_out: int


class Test(TypedDict):
    """A test. bootstrap: HOST:PORT for its clients. fell_out: how many exchanges are not held any longer.
    capture: a file, whole once the test is over. said: the last lines of its proxy."""

    id: str
    name: str
    bootstrap: str
    began: str
    exchanges: int
    fell_out: int
    capture: str | None
    said: list[str]
    ended: Ended | None


class Passed(TypedDict):
    """How many exchanges passed that were waited for, and they themselves: of many the last ones."""

    count: int
    exchanges: list[Exchange]


class Judged(TypedDict):
    """Whether all that was asserted holds; broken: what does not, in words. The others: how many there are,
    and which checks find something, where that was asserted."""

    holds: bool
    broken: list[str]
    retries: NotRequired[int]
    duplicate_sequences: NotRequired[int]
    findings: NotRequired[list[str]]
