"""Recognise records that a producer sends again, by their contents and by the history of its connections.

A batch of an idempotent producer keeps its producer id, epoch and sequence number, and its bytes. Without
idempotence, many producers (KafkaJS, Sarama, kafka-go) give the records a new timestamp, or send them in
another batch. So records are compared by key, value and headers. Records without a key may be sent again to
another partition, since the producer chooses their partition anew.

Equal contents alone are no retry: an application may send the same record twice. The client must have known
that the earlier attempt had failed (`knew_of_failure`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Batch, Record, read

RECORDS: Final = 4
"""Records of a set that are compared, besides their number: a capture may have millions."""

OUTPUT: Final = 2 << 20
"""Bytes that a compressed batch may hold; brokers accept batches of up to 1 MiB by default."""


class Attempt(NamedTuple):
    """An attempt to send something. Times are in ns, of one clock."""

    connection: int
    sent: int
    answered: int | None
    """When the client received the response; None: it received none."""


def knew_of_failure(failed: Attempt, sent: int, connection: int, patience: int | None) -> bool:
    """Return whether a client knew that an attempt had failed when it sent a later request.

    It knew if it had the response. Without a response it knew if it had given up the connection: the later
    request is on another one. On the same connection it may have waited for its timeout; before, the later
    request was in flight with the attempt.

    Args:
        failed: an attempt that got an error or no response.
        sent: when the later request was sent.
        connection: the connection of the later request.
        patience: ns after which the client gives up waiting on the same connection; None: never.

    >>> knew_of_failure(Attempt(1, 0, 5), 7, 1, None), knew_of_failure(Attempt(1, 0, 5), 3, 1, None)
    (True, False)
    >>> knew_of_failure(Attempt(1, 0, None), 7, 2, None), knew_of_failure(Attempt(1, 0, None), 7, 1, 9)
    (True, False)
    """
    if failed.answered is not None:
        return failed.answered <= sent
    if failed.connection != connection:
        return failed.sent <= sent
    return patience is not None and sent - failed.sent >= patience


def contents(records: bytes) -> Iterator[tuple[bytes | None, bytes]]:
    """Yield the key of each record, and a digest of key, value and headers, until one can't be read."""
    try:
        for batch in read(records, max_output=OUTPUT):
            for record in batch:
                yield record.key, _digest(record)
    except Malformed:
        return


def identity(records: bytes, batch: Batch) -> int:
    """Return a number that is equal when the producer sends a record set again.

    It is the checksum of an idempotent producer's batch. Otherwise, it is a digest of the number of records
    in the first batch, and of the contents of the first RECORDS records.

    Args:
        records: the record set.
        batch: its first batch.
    """
    if batch.producer_id >= 0 and batch.base_sequence >= 0:
        return batch.crc
    digests = [digest for _, digest in islice(contents(records), RECORDS)]
    if not digests:
        return batch.crc
    return int.from_bytes(
        hashlib.blake2b(b"%d" % (batch.count or 0) + b"".join(digests), digest_size=8).digest(),
        signed=True,
    )


def _digest(record: Record) -> bytes:
    parts = [record.key, record.value]
    for name, value in record.headers:
        parts += [name.encode("utf-8", "surrogatepass"), value]
    texts = (b"-" if part is None else b"%d:%b" % (len(part), part) for part in parts)
    return hashlib.blake2b(b"".join(texts), digest_size=8).digest()
