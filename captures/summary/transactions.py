"""Transactions by transactional id: what began each, what is in it, how it ended, how long it was open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.checks.batches import sent
from barnabas.captures.checks.finding import CLIENT, MS
from barnabas.captures.checks.partitions import answered_partitions
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory, weight
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import shorten
from barnabas.specs.keys import (
    ADD_OFFSETS_TO_TXN,
    ADD_PARTITIONS_TO_TXN,
    END_TXN,
    INIT_PRODUCER_ID,
    PRODUCE,
    TXN_OFFSET_COMMIT,
)

MOST: Final = 10_000
"""Transactional ids, and transactions that are over, that are kept."""

PARTITIONS: Final = 1000
"""Of a transaction, and groups of it, that are kept; of others it is counted how many there are."""

FENCED: Final = ("INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED")
"""What a producer is told whose transactional id another one has."""

_BEFORE: Final = "v3_and_below_"


@dataclass(slots=True)
class Transaction:
    """One transaction, as far as it was seen; times in ns since the epoch."""

    id: str
    producer_id: int
    epoch: int
    client: str
    began: int | None
    """When the request came that began it; None: before the capture."""
    by: str
    """The API that began it, or the first one that was seen of it."""
    partitions: dict[str, None] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    """Offsets that it takes along, by group."""
    more: int = 0
    """What it has beyond PARTITIONS."""
    ended: int | None = None
    outcome: str = "open"
    """open, commit, abort or fenced."""
    error: str = ""
    """The last thing that went wrong."""

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return weight((self.id, self.client)) + weight(self.partitions) + weight(self.groups)

    def put(self, kept: dict[str, Any], name: str, offsets: int = 0) -> None:
        """Add a partition or a group, if there is room."""
        if name not in kept and len(kept) >= PARTITIONS:
            self.more += 1
        elif kept is self.groups:
            kept[name] = kept.get(name, 0) + offsets
        else:
            kept[name] = None

    def row(self, now: int) -> dict[str, Any]:
        """In JSON form, times as text; now: until when an open one has been open."""
        end = now if self.ended is None else self.ended
        return {
            "transactional_id": self.id,
            "producer_id": self.producer_id,
            "epoch": self.epoch,
            "client": self.client,
            "began": None if self.began is None else str(self.began),
            "by": self.by,
            "partitions": list(self.partitions),
            "offsets": dict(self.groups),
            "more": self.more,
            "ended": None if self.ended is None else str(self.ended),
            "outcome": self.outcome,
            "open_ms": None if self.began is None else max(end - self.began, 0) / MS,
            "error": self.error,
        }


class Transactions:
    """Open transactions, and the last ones that are over: `most` of each.

    One begins with AddPartitionsToTxn or AddOffsetsToTxn, or by itself with Produce v12 and
    TxnOffsetCommit v5 (KIP-890). It ends with EndTxn, or when a producer begins anew with its id.

    >>> Transactions(Context()).rows()
    []
    """

    def __init__(self, context: Context, most: int = MOST) -> None:
        self._context = context
        self._open: Memory[str, Transaction] = Memory(most)
        self._over: Memory[int, Transaction] = Memory(most)
        self._known: Memory[str, tuple[int, int]] = Memory(most)
        """Producer id and epoch by transactional id."""
        self.count = 0
        """Transactions that are over."""
        self._now = 0

    @property
    def forgotten(self) -> int:
        """Transactions and ids that made room for later ones."""
        return self._open.forgotten + self._over.forgotten + self._known.forgotten

    def add(self, exchange: Exchange) -> None:
        """Take an exchange of which the context has learnt, in the order in which they end."""
        end = exchange.answered
        self._now = max(self._now, exchange.ts if end is None else end)
        request = exchange.request if exchange.key in _KEYS else None
        if end is None or not request or not exchange.response:
            return
        if exchange.key == ADD_PARTITIONS_TO_TXN:
            for one in _added(request):
                self._takes(exchange, one)
        elif not request.get("transactional_id"):
            return
        elif exchange.key == INIT_PRODUCER_ID:
            self._begins(exchange, request["transactional_id"], exchange.response, end)
        elif exchange.key == END_TXN:
            self._ends(exchange, request, exchange.response, end)
        elif exchange.key == PRODUCE:
            batches = list(sent(exchange, self._context))
            first = next((one.batch for one in batches if one.batch.is_transactional), None)
            if first is not None:
                known = {"producer_id": first.producer_id, "producer_epoch": first.producer_epoch}
                self._takes(
                    exchange, {**request, **known}, [one.place for one in batches if not one.error]
                )
        else:
            self._takes(exchange, request)

    def rows(self) -> list[dict[str, Any]]:
        """Those that are over in the order in which they ended, then those that are open."""
        return [one.row(self._now) for one in (*self._over.values(), *self._open.values())]

    def _takes(
        self, exchange: Exchange, said: dict[str, Any], places: list[str] | None = None
    ) -> None:
        """A request that puts something into a transaction."""
        name = said["transactional_id"]
        if exchange.error and not places:
            self._refused(exchange, said)
            return
        one = self._of(exchange, said, _BEGINS.get(exchange.key, 99) <= exchange.version)
        for topic in said["topics"] if exchange.key == ADD_PARTITIONS_TO_TXN else ():
            for number in topic["partitions"]:
                one.put(one.partitions, f"{topic['name']}[{number}]")
        for place in places or ():
            one.put(one.partitions, place)
        if "group_id" in said:
            offsets = 0
            if exchange.key == TXN_OFFSET_COMMIT:
                offsets = sum(1 for _ in answered_partitions(exchange, self._context))
            one.put(one.groups, said["group_id"], offsets)
        self._open[name] = one

    def _of(self, exchange: Exchange, said: dict[str, Any], begins: bool) -> Transaction:
        name = said["transactional_id"]
        producer = (said["producer_id"], said["producer_epoch"])
        one = self._open.get(name)
        if one is None:
            client = shorten(exchange.client, CLIENT)
            began = exchange.ts if begins else None
            one = Transaction(name, *producer, client, began, exchange.api)
        elif one.began is not None:  # they may overtake each other on several connections
            one.began = min(one.began, exchange.ts)
        self._known[name] = producer
        return one

    def _begins(self, exchange: Exchange, name: str, response: dict[str, Any], end: int) -> None:
        """A producer begins anew: the coordinator aborts what is open."""
        if not exchange.error:
            one = self._open.get(name)
            if one is not None and not (exchange.request or {}).get("keep_prepared_txn"):
                self._over_with(one, "abort", end)
            self._known[name] = response["producer_id"], response["producer_epoch"]

    def _ends(
        self, exchange: Exchange, said: dict[str, Any], response: dict[str, Any], end: int
    ) -> None:
        if exchange.error:
            self._refused(exchange, said)
            return
        one = self._of(exchange, said, begins=False)
        self._over_with(one, "commit" if said["committed"] else "abort", end)
        if response.get("producer_id", -1) >= 0:
            self._known[one.id] = response["producer_id"], response["producer_epoch"]

    def _refused(self, exchange: Exchange, said: dict[str, Any]) -> None:
        """Who is fenced may be the one whose transaction this is, or one before it."""
        error, name = exchange.error or "", said["transactional_id"]
        producer = (said["producer_id"], said["producer_epoch"])
        one = self._open.get(name)
        if one is not None and (one.producer_id, one.epoch) == producer:
            one.error = error
            if error in FENCED:
                self._over_with(one, "fenced", exchange.end)
        elif error in FENCED:
            one = Transaction(name, *producer, shorten(exchange.client, CLIENT), None, exchange.api)
            one.error = error
            self._over_with(one, "fenced", exchange.end, mine=False)

    def _over_with(self, one: Transaction, outcome: str, end: int, mine: bool = True) -> None:
        one.outcome, one.ended = outcome, end
        if mine:
            self._open.pop(one.id, None)
        self.count += 1
        self._over[self.count] = one


_KEYS: Final = (
    *(INIT_PRODUCER_ID, ADD_PARTITIONS_TO_TXN, ADD_OFFSETS_TO_TXN),
    *(PRODUCE, TXN_OFFSET_COMMIT, END_TXN),
)

_BEGINS: Final = {
    ADD_PARTITIONS_TO_TXN: 0,
    ADD_OFFSETS_TO_TXN: 0,
    PRODUCE: 12,
    TXN_OFFSET_COMMIT: 5,
}
"""From which version on a request begins a transaction (KIP-98, KIP-890)."""


def _added(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The transactions of an AddPartitionsToTxn; what a broker only verifies adds nothing."""
    if "transactions" not in request:
        yield {name.removeprefix(_BEFORE): value for name, value in request.items()}
    for one in request.get("transactions", ()):
        if not one["verify_only"]:
            yield one
