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


class Seen(Settings):
    """One exchange. `ts` is when the request arrived, in ns since the epoch."""

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
    """Whether rules are asked about such a request."""

    @property
    def left(self) -> int | None:
        """When the response left, in ns since the epoch."""
        return None if self.latency_ms is None else self.ts + round(self.latency_ms * 1e6)


def seen(exchange: Exchange) -> Seen:
    """What is kept of an exchange; of its bodies only error codes are read."""
    ruled = exchange.key not in HEADLESS and not any(
        note in exchange.note for note in (ANSWERED, NOT_OFFERED)
    )
    return Seen(
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
    """An exchange of the recorded run: what a scenario needs to meet it again."""

    k: int
    """Its number in the recording, from 1, in the order in which requests arrived."""
    client: str
    """The client id, as a glob."""
    api: str
    request: int
    """How many requests of this API that client has sent before, to all brokers."""
    response: int | None
    """How many responses to such requests have left before this one; None: it has none."""


class Steps(NamedTuple):
    """The exchanges that a rule can meet, and how many it can't, by reason."""

    steps: tuple[Step, ...]
    left_out: Counter[str]


def steps(exchanges: Iterable[Seen], run: str) -> Steps:
    """Number the exchanges of a run without faults; `run` is that run's token."""
    ordered = sorted(exchanges, key=lambda one: one.ts)
    clients = {one.client_id for one in ordered if one.client_id is not None}
    globs = {client: _glob(client, run) for client in clients}
    requests = _ordinals([one for one in ordered if one.ruled], globs)
    answered = [one for one in ordered if one.ruled and one.left is not None]
    responses = _ordinals(sorted(answered, key=lambda one: one.left or 0), globs)
    found: list[Step] = []
    left_out: Counter[str] = Counter()
    for k, one in enumerate(ordered, start=1):
        if one.client_id is None:
            left_out["without a client id"] += 1
        elif not one.ruled:
            left_out["to which rules do not apply"] += 1
        else:
            numbers = requests[id(one)], responses.get(id(one))
            found.append(Step(k, globs[one.client_id], one.api, *numbers))
    return Steps(tuple(found), left_out)


def _glob(client: str, run: str) -> str:
    """A client id as a glob that meets it in all runs.

    >>> _glob("orders-5f3a-1", "5f3a"), _glob("a[1]", "5f3a")
    ('orders-*-1', 'a[[]1]')
    """
    parts = client.split(run) if run else [client]
    return "*".join(map(glob.escape, parts))


def _ordinals(exchanges: list[Seen], globs: dict[str, str]) -> dict[int, int]:
    """id() of an exchange -> how many before it its own client's glob and its API would match."""
    counts: Counter[tuple[str, str]] = Counter()
    meets = {
        client: [other for other in set(globs.values()) if fnmatchcase(client, other)]
        for client in globs
    }
    found = {}
    for one in exchanges:
        if one.client_id is None:
            continue
        found[id(one)] = counts[globs[one.client_id], one.api]
        counts.update((other, one.api) for other in meets[one.client_id])
    return found
