"""Responses of a test server. Times are ISO 8601, durations in ms, sizes in bytes."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from barnabas.captures.kafka.columns import Row
from barnabas.page.answers.common import Json, Side
from barnabas.page.answers.rules import Rule


class Exchange(Row):
    """An exchange: the columns of the JSON log, its end, a short description, and how it ended."""

    sasl: NotRequired[str]
    payload: NotRequired[dict[str, dict[str, str]]]
    too_large: NotRequired[list[Side]]
    ended: str
    details: str
    note: str


class Evidence(TypedDict):
    """An exchange that shows a problem, and the proxy's rules that fired on it."""

    ts: str
    connection: int
    client: str
    api: str
    version: int
    correlation_id: int
    packets: list[int]
    rules: list[str]


class Finding(TypedDict):
    """A problem that a check found, and advice."""

    check: str
    severity: Literal["error", "warning", "note"]
    ts: str
    what: str
    advice: str
    frames: list[int]
    evidence: list[Evidence]


class TestResult(TypedDict):
    """The result of a test that has ended; `status` is its proxy's.

    `findings`: null if a check failed, which `said` reports. `findings_left_out`: how many more there are.
    """

    why: str
    status: Json
    rules: list[Rule]
    findings: list[Finding] | None
    findings_left_out: int


class Test(TypedDict):
    """A test. `bootstrap`: HOST:PORT for its clients. `fell_out`: how many exchanges are not held any longer.

    `capture`: a file, complete once the test has ended. `said`: the last lines that its proxy printed.
    """

    id: str
    name: str
    bootstrap: str
    began: str
    exchanges: int
    fell_out: int
    capture: str | None
    said: list[str]
    ended: TestResult | None


class MatchCount(TypedDict):
    """The number of matching exchanges that passed, and the last of them."""

    count: int
    exchanges: list[Exchange]


class AssertionResults(TypedDict):
    """Whether all assertions hold, and a description of each broken one.

    The other fields are the numbers of retries and duplicates, and the checks with findings, where asserted.
    """

    holds: bool
    broken: list[str]
    retries: NotRequired[int]
    duplicate_sequences: NotRequired[int]
    findings: NotRequired[list[str]]
