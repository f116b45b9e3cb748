"""The exchanges of a run, as exploration needs them, and what identifies one in other runs.

Runs of a program differ: its connections get their turns in another order, its topics and groups of
this run have other leaders and coordinators. What stays is what each client does: its n-th request
of an API. So that is what identifies an exchange: (client id, API, n), whichever broker it goes to.
A run's own token in a client id becomes `*`, as in a scenario's `client_id`.
"""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

from barnabas.captures.kafka.exchange import HEADLESS, Exchange
from barnabas.captures.kafka.notes import NOT_OFFERED
from barnabas.proxy.connection.dispatch import ANSWERED
from barnabas.proxy.matching.settings import Settings


class RecordedExchange(Settings):
    """An exchange of a run. `ts`: arrival of the request in ns since the epoch."""

    ts: int
    client_id: str | None
    broker: int | None
    api: str
    latency_ms: float | None
    """Until the response left; None without one."""
    error: str | None
    """Name of the response's first error; empty: none; None: no response, or undecodable."""
    rules: tuple[str, ...] = ()
    ruled: bool = True
    """Whether rules apply to the request."""

    @property
    def left(self) -> int | None:
        """Return the departure of the response in ns since the epoch; None: no response."""
        return None if self.latency_ms is None else self.ts + round(self.latency_ms * 1e6)


def recorded(exchange: Exchange) -> RecordedExchange:
    """Return the facts to record about an exchange; of its bodies only the error code is decoded."""
    ruled = exchange.key not in HEADLESS and not any(
        note in exchange.note for note in (ANSWERED, NOT_OFFERED)
    )
    return RecordedExchange(
        ts=exchange.ts,
        client_id=exchange.client_id,
        broker=exchange.broker,
        api=exchange.api,
        latency_ms=exchange.latency_ms,
        error=exchange.error,
        rules=exchange.rules,
        ruled=ruled,
    )


class Step(NamedTuple):
    """An exchange of the recorded run, identified so that a scenario matches it in other runs."""

    k: int
    """The number in the recording, from 1, in the order of requests."""
    client: str
    """The client id, as a glob."""
    api: str
    request: int
    """The number of preceding requests of the same client and API, to all brokers."""
    response: int | None
    """The number of preceding responses to such requests; None: there is no response."""


class Steps(NamedTuple):
    """The exchanges that a rule can match, and the number of others, by reason."""

    steps: tuple[Step, ...]
    left_out: Counter[str]


def steps(exchanges: Iterable[RecordedExchange], run: str) -> Steps:
    """Identify the exchanges of a run without faults. run: the run's token."""
    ordered = sorted(exchanges, key=lambda exchange: exchange.ts)
    clients = {exchange.client_id for exchange in ordered if exchange.client_id is not None}
    globs = {client: _glob(client, run) for client in clients}
    requests = _ordinals([exchange for exchange in ordered if exchange.ruled], globs)
    answered = [exchange for exchange in ordered if exchange.ruled and exchange.left is not None]
    responses = _ordinals(sorted(answered, key=lambda exchange: exchange.left or 0), globs)
    rule_steps: list[Step] = []
    left_out: Counter[str] = Counter()
    for k, exchange in enumerate(ordered, start=1):
        if exchange.client_id is None:
            left_out["without a client id"] += 1
        elif not exchange.ruled:
            left_out["to which rules do not apply"] += 1
        else:
            numbers = requests[id(exchange)], responses.get(id(exchange))
            rule_steps.append(Step(k, globs[exchange.client_id], exchange.api, *numbers))
    return Steps(tuple(rule_steps), left_out)


def _glob(client: str, run: str) -> str:
    """Return a client id as a glob that matches it in all runs.

    >>> _glob("orders-5f3a-1", "5f3a"), _glob("a[1]", "5f3a")
    ('orders-*-1', 'a[[]1]')
    """
    parts = client.split(run) if run else [client]
    return "*".join(map(glob.escape, parts))


def _ordinals(exchanges: list[RecordedExchange], globs: dict[str, str]) -> dict[int, int]:
    """Count the preceding exchanges that the exchange's glob and API would match.

    The key is id() of the exchange.
    """
    counts: Counter[tuple[str, str]] = Counter()
    meets = {
        client: [other for other in set(globs.values()) if fnmatchcase(client, other)]
        for client in globs
    }
    ordinals = {}
    for exchange in exchanges:
        if exchange.client_id is None:
            continue
        ordinals[id(exchange)] = counts[globs[exchange.client_id], exchange.api]
        counts.update((other, exchange.api) for other in meets[exchange.client_id])
    return ordinals
