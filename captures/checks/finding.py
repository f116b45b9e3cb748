"""Define findings of checks: severity, description, evidence and advice; and checks themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol, runtime_checkable

from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import shorten

LISTED: Final = 1000
"""Findings of a check that are listed, the first ones; counts include all."""

Severity = Literal["error", "warning", "note"]
"""error: the protocol is violated, or records are lost or read out of order. warning: it works at a cost, or
temporarily. note: normal operation that may explain other findings."""

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""The most severe first."""


class Evidence(NamedTuple):
    """An exchange that shows a finding; `ts` is when its request arrived, in ns since the epoch."""

    ts: int
    connection: int
    client: str
    api: str
    version: int
    correlation_id: int
    packets: tuple[int, ...]
    """Packet numbers of the request and the response, as Wireshark numbers them."""
    rules: tuple[str, ...] = ()
    """Names of the proxy's rules that fired on either message."""

    def row(self) -> dict[str, Any]:
        """Return the evidence in JSON form."""
        return {
            **self._asdict(),
            "ts": iso(self.ts),
            "packets": list(self.packets),
            "rules": list(self.rules),
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that a check reports. The evidence is in time order, and has at least one exchange."""

    severity: Severity
    what: str
    advice: str
    evidence: tuple[Evidence, ...]
    topic: str | None = None
    """The topic that it is about; None: none, or several."""
    group: str | None = None
    """The group that it is about."""

    @property
    def ts(self) -> int:
        """Return the time of its last evidence."""
        return self.evidence[-1].ts

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        return len(self.what)

    def row(self, check: str) -> dict[str, Any]:
        """Return the finding of a check in JSON form."""
        return {
            "check": check,
            "severity": self.severity,
            "ts": iso(self.ts),
            "what": self.what,
            "advice": self.advice,
            "topic": self.topic,
            "group": self.group,
            "frames": frames(self.evidence),
            "evidence": [item.row() for item in self.evidence],
        }


def frames(evidence: Iterable[Evidence]) -> list[int]:
    """Return the distinct packet numbers of all evidence, in order."""
    return sorted({number for item in evidence for number in item.packets})


See = Callable[[Exchange, Context], Iterable[Finding]]
"""Inspects an exchange, in the order in which exchanges end, and returns findings."""


@runtime_checkable
class Finishing(Protocol):
    """A `See` that may have findings at the end of the capture."""

    def finish(self) -> Iterable[Finding]:
        """Return the remaining findings, once, after the last exchange."""


def finish(see: See) -> Iterable[Finding]:
    """Return the findings of a check at the end of the capture; empty unless it is `Finishing`."""
    return see.finish() if isinstance(see, Finishing) else ()


ScopeName = Literal["connection", "broker", "host", "partition", "group", "producer"]
"""The scope of a check's memory: what it remembers of one does not affect another. partition: one client and
one partition."""


class Check(NamedTuple):
    """A check; `begin(settings)` returns a function that inspects every exchange of one capture."""

    name: str
    settings: Any
    """A frozen dataclass of thresholds with their defaults."""
    begin: Callable[[Any], See]
    what: str
    """The problem that it finds, in one line."""
    holds: str
    """The API versions to which it applies, and the KIP or Kafka class that defines the rule."""
    scope: ScopeName = "connection"
    """Exchanges of many captures are grouped by this before the check inspects them."""


@dataclass(frozen=True, slots=True)
class NoSettings:
    """The settings of a check without thresholds."""


CLIENT: Final = 255
"""Characters of a client id or a rule's name in evidence, since checks store evidence of many exchanges."""

RULES: Final = 10
"""Rules in evidence at most, since a capture may name any number."""

MS: Final = 1_000_000
"""Nanoseconds in a millisecond."""


def evidence(exchange: Exchange) -> Evidence:
    """Return an exchange as evidence, without its bodies."""
    packets = (exchange.request_packet, exchange.response_packet)
    return Evidence(
        exchange.ts,
        exchange.connection,
        shorten(exchange.client, CLIENT),
        exchange.api,
        exchange.version,
        exchange.correlation_id,
        tuple(number for number in packets if number),
        tuple(shorten(rule, CLIENT) for rule in exchange.rules[:RULES]),
    )


def client_key(exchange: Exchange) -> str:
    """Return the identity of a client on all its connections: its host, and its client id if it has one."""
    host = exchange.client_address.rpartition(":")[0]
    return host if exchange.client_id is None else f"{host}/{exchange.client_id}"


def duration(ns: float) -> str:
    """Format a duration in ns to three digits.

    >>> duration(12_345_678), duration(45_000_000_000)
    ('12.3 ms', '45 s')
    """
    ms = ns / MS
    return f"{ms:.3g} ms" if ms < 1000 else f"{ms / 1000:.3g} s"
