"""What a check finds: how bad it is, what was seen, in which frames, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol, runtime_checkable

from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import shorten

LISTED: Final = 1000
"""Findings of a check that are listed, the first ones; counts are those of all."""

Severity = Literal["error", "warning", "note"]
"""error: the protocol is violated, or records are lost or read in another order. warning: it works,
at a price or for now. note: it belongs to healthy operation, and may explain something."""

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""The worst one first."""


class Evidence(NamedTuple):
    """An exchange that shows it; `ts` is when its request arrived, in ns since the epoch."""

    ts: int
    connection: int
    client: str
    api: str
    version: int
    correlation_id: int
    packets: tuple[int, ...]
    """Of the request and the response in the capture file, as Wireshark numbers them."""
    rules: tuple[str, ...] = ()
    """Of the proxy, that fired on either."""

    def row(self) -> dict[str, Any]:
        """In JSON form."""
        return {
            **self._asdict(),
            "ts": iso(self.ts),
            "packets": list(self.packets),
            "rules": list(self.rules),
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. The evidence is in order of time, and has at least one exchange."""

    severity: Severity
    what: str
    advice: str
    evidence: tuple[Evidence, ...]

    @property
    def ts(self) -> int:
        """When it showed: the time of its last evidence."""
        return self.evidence[-1].ts

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return len(self.what)

    def row(self, check: str) -> dict[str, Any]:
        """In JSON form, as that check's."""
        return {
            "check": check,
            "severity": self.severity,
            "ts": iso(self.ts),
            "what": self.what,
            "advice": self.advice,
            "frames": frames(self.evidence),
            "evidence": [one.row() for one in self.evidence],
        }


def frames(evidence: Iterable[Evidence]) -> list[int]:
    """The packets of all evidence, in order, each once."""
    return sorted({number for one in evidence for number in one.packets})


See = Callable[[Exchange, Context], Iterable[Finding]]
"""What a check does with an exchange, in the order in which they end."""


@runtime_checkable
class Finishing(Protocol):
    """A `See` that has findings left when the capture is over."""

    def finish(self) -> Iterable[Finding]:
        """Return them, once, after the last exchange."""


def finish(see: See) -> Iterable[Finding]:
    """Return what a check finds when the capture is over: nothing, unless it is `Finishing`."""
    return see.finish() if isinstance(see, Finishing) else ()


Together = Literal["connection", "broker", "host", "partition", "group", "producer"]
"""What belongs together: what a check remembers of one says nothing of another. partition: one client and
one partition."""


class Check(NamedTuple):
    """A check: `begin(settings)` gives a function that sees every exchange of one capture."""

    name: str
    settings: Any
    """A frozen dataclass with its thresholds, as they are if nobody says otherwise."""
    begin: Callable[[Any], See]
    what: str
    """What it finds, in a line."""
    holds: str
    """For which versions of which APIs, and by which KIP or class of Kafka."""
    scope: Together = "connection"
    """The least that it remembers by: exchanges of many captures are put together so before it sees them."""


@dataclass(frozen=True, slots=True)
class NoSettings:
    """Of a check that has no thresholds."""


CLIENT: Final = 255
"""Characters of a client id or a rule's name in evidence: checks keep evidence of many exchanges."""

RULES: Final = 10
"""Rules in evidence, of which a capture may name any number."""

MS: Final = 1_000_000
"""ns in a millisecond."""


def evidence(exchange: Exchange) -> Evidence:
    """What is kept of an exchange: nothing of its bodies."""
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
    """What a client is known by on all its connections: its host, and its client id if it has one."""
    host = exchange.client_address.rpartition(":")[0]
    return host if exchange.client_id is None else f"{host}/{exchange.client_id}"


def duration(ns: float) -> str:
    """A time in words, to three digits.

    >>> duration(12_345_678), duration(45_000_000_000)
    ('12.3 ms', '45 s')
    """
    ms = ns / MS
    return f"{ms:.3g} ms" if ms < 1000 else f"{ms / 1000:.3g} s"
