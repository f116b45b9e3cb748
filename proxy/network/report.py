"""The counts and the state of a proxy as a value: of one process, or of several together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from barnabas.captures.summary.api_stats import ApiStats
from barnabas.captures.writing.writer import CaptureState
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import Node
from barnabas.proxy.network.relay import Relay
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.rules.outcome import Outcome, outcome

Connection = dict[str, Any]
"""An open connection in JSON form, sizes in bytes."""


@dataclass(frozen=True, slots=True)
class Report:
    """The counts and the state of a proxy.

    `tally` and `totals` are the proxy's own objects until the report is pickled or merged.
    """

    tally: ApiStats = field(default_factory=ApiStats)
    totals: Totals = field(default_factory=Totals)
    received: tuple[int, int] = (0, 0)
    """Bytes of connections that are closed: from clients, from brokers."""
    draining: bool = False
    observed: bool = False
    """Whether the log or the control port shows all exchanges now."""
    nodes: tuple[Node, ...] = ()
    connections: tuple[Connection, ...] = ()
    rules: tuple[Outcome, ...] = ()
    struck: Counter[str] = field(default_factory=Counter)
    """How often each fault struck, by these rules and those before them."""
    missing_names: int = 0
    """The number of topic names that rules lack ..."""
    trouble: str = ""
    """... and why they are unavailable."""
    capture: CaptureState | None = None
    missing: tuple[int, ...] = ()
    """The workers that do not answer: their share of the report may be old."""


def report(proxy: Proxy) -> Report:
    """Return the report of a proxy in this process."""
    unresolved = proxy.shared.unresolved
    return Report(
        proxy.tally,
        proxy.totals,
        (proxy.received[0], proxy.received[1]),
        proxy.draining,
        proxy.observed,
        tuple(proxy.topology.nodes.values()),
        tuple(map(connection, proxy.relays.values())),
        tuple(map(outcome, proxy.rules.rules)),
        proxy.rules.struck,
        len(unresolved),
        unresolved.trouble,
        None if proxy.capture is None else proxy.capture.state,
    )


def merged(first: Report, others: Sequence[Report]) -> Report:
    """Return one report for several processes.

    The nodes, the rules and the capture are those of the first report.
    """
    reports = [first, *others]
    tally, totals, struck = ApiStats(), Totals(), Counter[str]()
    for each in reports:
        tally.add(each.tally)
        totals.add(each.totals)
        struck.update(each.struck)  # `+` would drop faults with a count of 0
    rules = {rule.name: rule for rule in first.rules}
    for each in others:
        for other in each.rules:
            if other.name in rules:
                rules[other.name] += other
    return Report(
        tally,
        totals,
        _sum(each.received for each in reports),
        first.draining,
        any(each.observed for each in reports),
        first.nodes,
        tuple(
            sorted(
                (other for each in reports for other in each.connections),
                key=itemgetter("connection"),
            )
        ),
        tuple(rules.values()),
        struck,
        sum(each.missing_names for each in reports),
        next((each.trouble for each in reports if each.trouble), ""),
        first.capture,
    )


def ended(last: Report) -> Report:
    """Return what remains of a process's last report after its end: its counts."""
    received = [
        (each["request"]["received_bytes"], each["response"]["received_bytes"])
        for each in last.connections
    ]
    return replace(
        last,
        received=_sum([last.received, *received]),
        observed=False,
        connections=(),
        missing_names=0,
        trouble="",
    )


def _sum(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    first, second = zip(*pairs, strict=True)
    return sum(first), sum(second)


def connection(relay: Relay) -> Connection:
    """Return an open connection in JSON form."""
    state = relay.connection.state
    received = relay.received()
    return {
        "connection": state.number,
        "client_address": state.client,
        "client_id": state.client_id,
        "broker": state.broker,
        "sasl": {
            "mechanism": state.sasl.mechanism,
            "user": state.sasl.user,
            "authenticated": state.sasl.times,
        }
        if state.sasl.mechanism
        else None,
        "paused": relay.paused,
        "waiting_requests": len(state.pairing.waiting),
        **{
            direction: {
                "received_bytes": count,
                "frames": state.ingress[direction].frames,
                "queued": len(queue.in_order),
                "held": len(queue.aside),
                "queued_bytes": queue.bytes,
                "lost": queue.lost,
            }
            for (direction, queue), count in zip(state.queues.items(), received, strict=True)
        },
    }
