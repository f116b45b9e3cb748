"""Requests that clients sent again."""

from __future__ import annotations

import base64
import json
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from barnabas.testing.batches import NO_PRODUCER, PRODUCE, Batch, Unreadable, batches
from barnabas.testing.exchange import Exchange

OF_CONNECTION: Final = frozenset((17, 18, 36))
"""SaslHandshake, ApiVersions, SaslAuthenticate: the requests that begin each connection."""

SASL_TOKEN: Final = -1


@dataclass(frozen=True, slots=True, repr=False)
class Retry:
    """A request that its client had sent before without success."""

    exchange: Exchange
    before: Exchange
    """The preceding exchange of the same request."""
    attempt: int
    """1 for the first retry of a request, and so on; for Produce, the largest number of its batches."""

    @property
    def reason(self) -> str:
        """Return why the preceding request failed: its error, or that it got no response."""
        if not self.before.answered:
            return "no response"
        return self.before.error or "a response that can't be read"

    def __repr__(self) -> str:
        return f"<retry {self.attempt} after {self.reason}: {self.exchange}>"


@dataclass(slots=True)
class _Failed:
    """A failed attempt to send a batch or another request."""

    exchange: Exchange
    attempt: int
    producer: tuple[int, int] = NO_PRODUCER[:2]
    """Producer id and epoch."""


def retries(exchanges: Iterable[Exchange]) -> list[Retry]:
    """Return requests that the same client had sent before and that got an error or no response.

    A Produce request is sent again if it has a batch of one partition with the producer id, epoch and base
    sequence of a failed batch. Without an idempotent producer, and with a new producer id or epoch, it has a
    record with the key, value and headers of a record that failed; the timestamps may differ. The client must
    have known of the failure (`captures.checks.resends`), and a record without a key may be sent again to
    another partition of the topic. Other requests are the same if API and body are equal; for requests that
    begin each connection, the connection must be the same, too. A repeated request after success is no retry,
    and neither is a Produce with acks=0. Clients are distinguished by their client ids.

    Raises:
        Unreadable: The body of a request is not in the log.
    """
    failures = _Failures()
    retried: list[Retry] = []
    for exchange in sorted(exchanges, key=lambda each: each.ts):
        repeated = (
            failures.batches(exchange) if exchange.key == PRODUCE else failures.request(exchange)
        )
        if repeated:
            latest = max(repeated, key=lambda failed: failed.attempt)
            retried.append(Retry(exchange, latest.exchange, latest.attempt + 1))
    return retried


class _Failures:
    """The failed attempts that were not repeated yet."""

    def __init__(self) -> None:
        self._numbered: dict[Hashable, _Failed] = {}
        """By the sequence of a batch, or by the body of another request."""
        self._records: dict[Hashable, list[_Failed]] = {}
        """By the contents of a record; several records may be equal."""

    def request(self, exchange: Exchange) -> list[_Failed]:
        """Return the failed attempt that a request other than Produce repeats, if any. Raises Unreadable."""
        if exchange.request is None:
            if exchange.key == SASL_TOKEN:
                return []
            raise Unreadable(
                f"whether this is a retry can't be told: its body is not in the log: {exchange}"
            )
        connection = exchange.connection if exchange.key in OF_CONNECTION else None
        body = json.dumps(exchange.request, sort_keys=True)
        identity = exchange.client_id, exchange.key, connection, body
        repeated = self._numbered.pop(identity, None)
        if not exchange.answered or exchange.error != "":
            self._numbered[identity] = _Failed(exchange, _next(repeated))
        return [] if repeated is None else [repeated]

    def batches(self, exchange: Exchange) -> list[_Failed]:
        """Return the failed attempts that the batches of a Produce repeat. Raises Unreadable."""
        repeated_attempts = []
        acks = (exchange.request or {}).get("acks")
        for batch in batches(exchange):
            has_failed = acks != 0 and (not exchange.answered or batch.error_code != 0)
            records = _records(exchange, batch) if has_failed or self._records else []
            repeated = self._repeated(exchange, batch, records)
            if repeated is not None:
                repeated_attempts.append(repeated)
            if has_failed:
                producer = (batch.producer_id, batch.producer_epoch)
                failed = _Failed(exchange, _next(repeated), producer)
                if batch.idempotent:
                    self._numbered[_sequence(exchange, batch)] = failed
                for record in records:
                    self._records.setdefault(record, []).append(failed)
        return repeated_attempts

    def _repeated(
        self, exchange: Exchange, batch: Batch, records: list[Hashable]
    ) -> _Failed | None:
        """Return the failed attempt that a batch repeats, and forget it; None: it is a first attempt."""
        if batch.idempotent:
            numbered = self._numbered.pop(_sequence(exchange, batch), None)
            if numbered is not None:
                for record in records:
                    self._forget(record, numbered)
                return numbered
        repeated: _Failed | None = None
        for record in records:
            candidates = self._records.get(record, ())
            failed = next((each for each in candidates if _repeats(exchange, batch, each)), None)
            if failed is not None:
                self._forget(record, failed)
                if repeated is None or failed.attempt > repeated.attempt:
                    repeated = failed
        return repeated

    def _forget(self, record: Hashable, failed: _Failed) -> None:
        remaining = [each for each in self._records.get(record, ()) if each is not failed]
        if remaining:
            self._records[record] = remaining
        else:
            self._records.pop(record, None)


def _next(repeated: _Failed | None) -> int:
    """Return the number of an attempt after a failed one."""
    return 0 if repeated is None else repeated.attempt + 1


def _sequence(exchange: Exchange, batch: Batch) -> Hashable:
    number = batch.producer_id, batch.producer_epoch, batch.base_sequence
    return exchange.client_id, batch.topic, batch.partition, number


def _records(exchange: Exchange, batch: Batch) -> list[Hashable]:
    """Return the identities of a batch's records, in order, by client, topic, partition and contents.

    Records that can't be read are identified by the bytes of the batch.
    """
    from barnabas.captures.checks.resends import contents  # here: pytest need not import it

    topic = exchange.client_id, batch.topic
    identities: list[Hashable] = [
        (*topic, None if key is None else batch.partition, digest)
        for key, digest in contents(base64.b64decode(batch.records))
    ]
    return identities or [(*topic, batch.partition, batch.records)]


def _repeats(exchange: Exchange, batch: Batch, failed: _Failed) -> bool:
    """Return whether equal records are a retry of a failed attempt."""
    from barnabas.captures.checks.resends import Attempt, knew_of_failure

    if batch.idempotent and (batch.producer_id, batch.producer_epoch) == failed.producer:
        return False  # its sequence number differs: the application sent equal records twice
    before = failed.exchange
    sent = _ns(before)
    answered = None if before.latency_ms is None else sent + int(before.latency_ms * 1e6)
    patience = (before.request or {}).get("timeout_ms")
    return knew_of_failure(
        Attempt(before.connection, sent, answered),
        _ns(exchange),
        exchange.connection,
        None if patience is None else patience * 1_000_000,
    )


def _ns(exchange: Exchange) -> int:
    """Return when the request arrived, in ns since the epoch."""
    return int(datetime.fromisoformat(exchange.ts).timestamp() * 1e6) * 1000
