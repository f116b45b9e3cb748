"""The workloads of client programs, and the survey that learns which workload asks for which API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Final

from barnabas.fuzz.bench_broker.contexts.registry import context_of
from barnabas.fuzz.bench_broker.offer import EVERYTHING, FIRST_TRANSACTIONS, Offer, narrowed
from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.errors import CannotRun
from barnabas.specs import keys

EVERYBODYS: Final = ("consume", "group", "produce", "transaction", "admin", "sasl")
"""Workloads that every library's program has."""

WORKLOADS: Final[Mapping[str, str]] = {
    "consume": "reads partitions 0 and 1 of topic bench from the beginning, without a group; "
    "then asks for their end and for an offset by its time",
    "group": "joins group bench-group, reads topic bench, commits, asks what is committed, leaves",
    "produce": "sends three records to topic bench, acks=all",
    "transaction": "as bench-txn, sends a record to topic bench and offsets of bench-group, and commits",
    "admin": "describes the cluster, topic bench and bench-group, then creates and deletes some",
    "sasl": "reads topic bench after a login with SASL_PLAINTEXT, PLAIN, barnabas, secret",
    "consumer-protocol": "reads topic bench in bench-group with group.protocol=consumer",
    "share-group": "reads topic bench in the share group bench-group and acknowledges",
    "telemetry": "reads topic bench with client metrics on",
    "read-committed": "reads topic bench with isolation.level=read_committed, without a group",
    "sticky": "reads topic bench in bench-group with the sticky assignor",
    "cooperative": "reads topic bench in bench-group with the cooperative sticky assignor",
}
"""All workloads, in the order in which a survey of a client runs them, and what a client does in each. A
workload that a library lacks ends at once."""

SURVEYED: Final[tuple[tuple[str, Offer], ...]] = (
    *((workload, EVERYTHING) for workload in WORKLOADS),
    ("transaction", FIRST_TRANSACTIONS),
)
"""Workloads, and the versions that they are offered: a client uses transactions differently in each
version."""

_BY_KEY: Final = {
    keys.PRODUCE: "produce",
    keys.FETCH: "consume",
    keys.LIST_OFFSETS: "consume",
    keys.METADATA: "consume",
    keys.API_VERSIONS: "consume",
    keys.OFFSET_FOR_LEADER_EPOCH: "consume",
    keys.OFFSET_COMMIT: "group",
    keys.OFFSET_FETCH: "group",
    keys.FIND_COORDINATOR: "group",
    keys.JOIN_GROUP: "group",
    keys.HEARTBEAT: "group",
    keys.LEAVE_GROUP: "group",
    keys.SYNC_GROUP: "group",
    keys.CONSUMER_GROUP_HEARTBEAT: "consumer-protocol",
    keys.SHARE_GROUP_HEARTBEAT: "share-group",
    keys.SHARE_FETCH: "share-group",
    keys.SHARE_ACKNOWLEDGE: "share-group",
    keys.GET_TELEMETRY_SUBSCRIPTIONS: "telemetry",
    keys.PUSH_TELEMETRY: "telemetry",
    keys.INIT_PRODUCER_ID: "produce",
    keys.ADD_PARTITIONS_TO_TXN: "transaction",
    keys.ADD_OFFSETS_TO_TXN: "transaction",
    keys.SASL_HANDSHAKE: "sasl",
    keys.SASL_AUTHENTICATE: "sasl",
    keys.END_TXN: "transaction",
    keys.TXN_OFFSET_COMMIT: "transaction",
}


def candidates(key: int) -> tuple[str, ...]:
    """Return the workloads that may request an API, the likeliest first.

    >>> candidates(1)[0], candidates(32)[0]
    ('consume', 'admin')
    """
    first = _BY_KEY.get(key, "admin")
    return first, *(workload for workload in WORKLOADS if workload != first)


def workload_for(key: int, version: int, requests: Mapping[str, Set[tuple[int, int]]]) -> str:
    """Return the workload for a version of an API.

    A workload that requested this version is preferred to one that requested another. requests: workload ->
    what it requested while everything was offered.

    >>> workload_for(1, 11, {"consume": {(1, 10)}, "admin": {(1, 11)}})
    'admin'
    >>> workload_for(1, 5, {"consume": {(1, 10)}, "admin": {(1, 11)}})
    'consume'
    """
    likely = candidates(key)
    matching = [workload for workload in likely if (key, version) in requests.get(workload, ())]
    matching += [
        workload
        for workload in likely
        if any(key == other for other, _ in requests.get(workload, ()))
    ]
    return (*matching, *likely)[0]


SURVEYS: Final = 2
"""How often all workloads run without a new API before the survey ends: some end early."""


class Survey:
    """The survey of one client.

    Args:
        name: The client's name.
        session: Runs a valid session and returns its requests.
        each: The client is a command, which has one workload and is started for each session.
    """

    def __init__(
        self, name: str, session: Callable[[str, Offer], set[tuple[int, int]]], *, each: bool
    ) -> None:
        self._name, self._session, self._each = name, session, each
        self._asks: dict[str, set[tuple[int, int]]] = {}
        """Workload -> the APIs and versions that it requests."""

    def know(self) -> None:
        """Run the survey, if it has not run. Raises CannotRun as `newest` does."""
        if not self._asks:
            self.newest()

    def newest(self) -> dict[int, int]:
        """Return the newest version that the client requests, by API key.

        Raises CannotRun if it requests nothing.
        """
        newest: dict[int, int] = {}
        in_vain = 0
        while in_vain < (1 if self._each else SURVEYS):
            before = len(newest)
            for workload, offer in (("any", EVERYTHING),) if self._each else SURVEYED:
                for key, version in sorted(self._session(workload, offer)):
                    newest[key] = max(version, newest.get(key, 0))
                    self._asks.setdefault(workload, set()).add((key, version))
            in_vain = 0 if len(newest) > before else in_vain + 1
        if not newest:
            raise CannotRun(f"{self._name} sent no request to the broker; is it a Kafka client?")
        return newest

    def versions(self, newest: Mapping[int, int] | None = None) -> frozenset[tuple[int, int]]:
        """Return the (API key, version) that the client requests.

        newest: API key -> the newest version of interest, if it is known. Raises CannotRun if no session
        works at all.
        """
        supported = set()
        newest_versions = self.newest() if newest is None else newest
        for key, version in newest_versions.items():
            if newest is None:
                supported.add((key, version))
            for older in range(EVERYTHING.get(key, (version,))[0], version + (newest is not None)):
                workload = workload_for(key, older, self._asks)
                if (key, older) in self._session(workload, narrowed(key, older)):
                    supported.add((key, older))
        return frozenset(supported)

    def workload(self, case: Case) -> str:
        """Return the workload in which the client requests a case's response."""
        seed, session = case.recipe.seed, case.recipe.session
        if session in WORKLOADS:
            return session
        if context := context_of(case).workload:
            return context
        self.know()
        return workload_for(seed.key, seed.version, self._asks)
