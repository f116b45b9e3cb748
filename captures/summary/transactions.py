"""Track transactions by transactional id: how each began, its partitions, how it ended, and its duration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.checks.facts import first_batch
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
"""Transactional ids, and finished transactions, that are retained."""

PARTITIONS: Final = 1000
"""Partitions and groups of a transaction that are retained; the others are counted."""

FENCED: Final = ("INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED")
"""The errors of a producer whose transactional id another producer has taken over."""

_BEFORE: Final = "v3_and_below_"


@dataclass(slots=True)
class Transaction:
    """A transaction, as far as it was captured; times in ns since the epoch."""

    id: str
    producer_id: int
    epoch: int
    client: str
    began: int | None
    """When the request that began it arrived; None: before the capture."""
    by: str
    """The API that began it, or its first captured API."""
    partitions: dict[str, None] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    """Number of committed offsets, by group."""
    more: int = 0
    """Partitions and groups beyond PARTITIONS."""
    ended: int | None = None
    outcome: str = "open"
    """open, commit, abort or fenced."""
    error: str = ""
    """The latest error."""

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        return weight((self.id, self.client)) + weight(self.partitions) + weight(self.groups)

    def put(self, entries: dict[str, Any], name: str, offsets: int = 0) -> None:
        """Add a partition or a group, if there is room."""
        if name not in entries and len(entries) >= PARTITIONS:
            self.more += 1
        elif entries is self.groups:
            entries[name] = entries.get(name, 0) + offsets
        else:
            entries[name] = None

    def row(self, now: int) -> dict[str, Any]:
        """Return the transaction in JSON form, with times as text; an open transaction lasts until `now`."""
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
    """Open transactions and the latest finished ones: `most` of each.

    A transaction begins with AddPartitionsToTxn or AddOffsetsToTxn, or implicitly with Produce v12 and
    TxnOffsetCommit v5 (KIP-890). It ends with EndTxn, or when a producer starts again with its transactional
    id.

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
        """Finished transactions."""
        self._now = 0

    @property
    def forgotten(self) -> int:
        """Return the number of dropped transactions and transactional ids."""
        return self._open.forgotten + self._over.forgotten + self._known.forgotten

    def add(self, exchange: Exchange) -> None:
        """Add an exchange from which the context has learned, in the order in which exchanges end."""
        end = exchange.answered
        self._now = max(self._now, exchange.ts if end is None else end)
        request = exchange.request if exchange.key in _KEYS else None
        if end is None or not request or not exchange.response:
            return
        if exchange.key == ADD_PARTITIONS_TO_TXN:
            for transaction in _added(request):
                self._takes(exchange, transaction)
        elif not request.get("transactional_id"):
            return
        elif exchange.key == INIT_PRODUCER_ID:
            self._begins(exchange, request["transactional_id"], exchange.response, end)
        elif exchange.key == END_TXN:
            self._ends(exchange, request, exchange.response, end)
        elif exchange.key == PRODUCE:
            self._produced(exchange, request)
        else:
            self._takes(exchange, request)

    def rows(self) -> list[dict[str, Any]]:
        """Return finished transactions in the order in which they ended, then open ones."""
        return [
            transaction.row(self._now)
            for transaction in (*self._over.values(), *self._open.values())
        ]

    def _takes(
        self, exchange: Exchange, fields: dict[str, Any], partitions: list[str] | None = None
    ) -> None:
        """Add the partitions or offsets of a request to its transaction."""
        name = fields["transactional_id"]
        if exchange.error and not partitions:
            self._refused(exchange, fields)
            return
        transaction = self._of(exchange, fields, _BEGINS.get(exchange.key, 99) <= exchange.version)
        for topic in fields["topics"] if exchange.key == ADD_PARTITIONS_TO_TXN else ():
            for number in topic["partitions"]:
                transaction.put(transaction.partitions, f"{topic['name']}[{number}]")
        for partition in partitions or ():
            transaction.put(transaction.partitions, partition)
        if "group_id" in fields:
            offsets = 0
            if exchange.key == TXN_OFFSET_COMMIT:
                offsets = sum(1 for _ in answered_partitions(exchange, self._context))
            transaction.put(transaction.groups, fields["group_id"], offsets)
        self._open[name] = transaction

    def _produced(self, exchange: Exchange, request: dict[str, Any]) -> None:
        written: list[str] = []
        producer: dict[str, int] = {}
        for partition in answered_partitions(exchange, self._context):
            batch = first_batch(partition.fields["records"] or b"")
            if batch is None:
                continue
            if batch.is_transactional and not producer:
                producer = {
                    "producer_id": batch.producer_id,
                    "producer_epoch": batch.producer_epoch,
                }
            if not (partition.response_fields or {}).get("error_code"):
                written.append(partition.text)
        if producer:
            self._takes(exchange, {**request, **producer}, written)

    def _of(self, exchange: Exchange, fields: dict[str, Any], begins: bool) -> Transaction:
        name = fields["transactional_id"]
        producer = (fields["producer_id"], fields["producer_epoch"])
        transaction = self._open.get(name)
        if transaction is None:
            client = shorten(exchange.client, CLIENT)
            began = exchange.ts if begins else None
            transaction = Transaction(name, *producer, client, began, exchange.api)
        elif (
            transaction.began is not None
        ):  # requests may overtake each other on several connections
            transaction.began = min(transaction.began, exchange.ts)
        self._known[name] = producer
        return transaction

    def _begins(self, exchange: Exchange, name: str, response: dict[str, Any], end: int) -> None:
        """Note a producer that starts again: the coordinator aborts its open transaction."""
        if not exchange.error:
            transaction = self._open.get(name)
            if transaction is not None and not (exchange.request or {}).get("keep_prepared_txn"):
                self._over_with(transaction, "abort", end)
            self._known[name] = response["producer_id"], response["producer_epoch"]

    def _ends(
        self, exchange: Exchange, fields: dict[str, Any], response: dict[str, Any], end: int
    ) -> None:
        if exchange.error:
            self._refused(exchange, fields)
            return
        transaction = self._of(exchange, fields, begins=False)
        self._over_with(transaction, "commit" if fields["committed"] else "abort", end)
        if response.get("producer_id", -1) >= 0:
            self._known[transaction.id] = response["producer_id"], response["producer_epoch"]

    def _refused(self, exchange: Exchange, fields: dict[str, Any]) -> None:
        """Note the error of a producer, which may be fenced.

        It may be the current producer of the transactional id, or an earlier one.
        """
        error, name = exchange.error or "", fields["transactional_id"]
        producer = (fields["producer_id"], fields["producer_epoch"])
        transaction = self._open.get(name)
        if transaction is not None and (transaction.producer_id, transaction.epoch) == producer:
            transaction.error = error
            if error in FENCED:
                self._over_with(transaction, "fenced", exchange.end)
        elif error in FENCED:
            transaction = Transaction(
                name, *producer, shorten(exchange.client, CLIENT), None, exchange.api
            )
            transaction.error = error
            self._over_with(transaction, "fenced", exchange.end, is_open=False)

    def _over_with(
        self, transaction: Transaction, outcome: str, end: int, is_open: bool = True
    ) -> None:
        transaction.outcome, transaction.ended = outcome, end
        if is_open:
            self._open.pop(transaction.id, None)
        self.count += 1
        self._over[self.count] = transaction


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
"""The version from which a request begins a transaction (KIP-98, KIP-890)."""


def _added(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the transactions of an AddPartitionsToTxn, without those that a broker only verifies."""
    if "transactions" not in request:
        yield {name.removeprefix(_BEFORE): value for name, value in request.items()}
    for transaction in request.get("transactions", ()):
        if not transaction["verify_only"]:
            yield transaction
