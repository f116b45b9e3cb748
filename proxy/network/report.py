"""What a proxy has counted and what it is doing, as a value: of one process, or of several together."""

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
    """A value for another process: `tally` and `totals` are the proxy's own until it is pickled or merged."""

    tally: ApiStats = field(default_factory=ApiStats)
    totals: Totals = field(default_factory=Totals)
    received: tuple[int, int] = (0, 0)
    """Bytes of connections that are closed: from clients, from brokers."""
    draining: bool = False
    observed: bool = False
    """Whether all exchanges are shown just now, by the log or the control port."""
    nodes: tuple[Node, ...] = ()
    connections: tuple[Connection, ...] = ()
    rules: tuple[Outcome, ...] = ()
    struck: Counter[str] = field(default_factory=Counter)
    """How often each fault struck, by these rules and those before them."""
    wanted: int = 0
    """Names of topics that rules lack ..."""
    trouble: str = ""
    """... and why they can't be had."""
    capture: CaptureState | None = None
    missing: tuple[int, ...] = ()
    """Workers that do not answer: what is here of them may be old."""


def report(proxy: Proxy) -> Report:
    """That of one process."""
    questions = proxy.shared.questions
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
        len(questions),
        questions.trouble,
        None if proxy.capture is None else proxy.capture.state,
    )


def merged(first: Report, others: Sequence[Report]) -> Report:
    """One for several processes. The first has what is one for all: nodes, rules, and the capture."""
    reports = [first, *others]
    tally, totals, struck = ApiStats(), Totals(), Counter[str]()
    for each in reports:
        tally.add(each.tally)
        totals.add(each.totals)
        struck.update(each.struck)  # `+` would leave out faults that have not struck yet
    rules = {own.name: own for own in first.rules}
    for each in others:
        for found in each.rules:
            if found.name in rules:
                rules[found.name] += found
    return Report(
        tally,
        totals,
        _sum(each.received for each in reports),
        first.draining,
        any(each.observed for each in reports),
        first.nodes,
        tuple(
            sorted(
                (found for each in reports for found in each.connections),
                key=itemgetter("connection"),
            )
        ),
        tuple(rules.values()),
        struck,
        sum(each.wanted for each in reports),
        next((each.trouble for each in reports if each.trouble), ""),
        first.capture,
    )


def ended(last: Report) -> Report:
    """What remains of a process that is no more: what it had counted, the bytes of its connections too."""
    ways = [
        (each["request"]["received_bytes"], each["response"]["received_bytes"])
        for each in last.connections
    ]
    return replace(
        last,
        received=_sum([last.received, *ways]),
        observed=False,
        connections=(),
        wanted=0,
        trouble="",
    )


def _sum(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    first, second = zip(*pairs, strict=True)
    return sum(first), sum(second)


def connection(relay: Relay) -> Connection:
    """One that is open."""
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
