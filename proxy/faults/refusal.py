"""Refuses some entries of a request, for `respond` with `only`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from barnabas.captures.kafka.errors import error_codes
from barnabas.proxy.effects import Amend, Answer, Become, Effects, HangUp
from barnabas.proxy.error_responses.error_response import error_response
from barnabas.proxy.error_responses.identities import Identity
from barnabas.proxy.error_responses.merge import Merge
from barnabas.proxy.error_responses.reach import is_read
from barnabas.proxy.error_responses.split import Part, Split
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.notation import error_code
from barnabas.proxy.matching.scope import Only
from barnabas.specs import api
from barnabas.specs.codec import Codec
from barnabas.specs.dialects.keys import error_in
from barnabas.specs.keys import ADD_PARTITIONS_TO_TXN, FETCH, SHARE_FETCH
from barnabas.specs.malformed import Malformed

AFTER_WORK: Final = frozenset(
    map(
        error_code,
        (
            "COORDINATOR_LOAD_IN_PROGRESS",
            "COORDINATOR_NOT_AVAILABLE",
            "DUPLICATE_SEQUENCE_NUMBER",
            "KAFKA_STORAGE_ERROR",
            "NOT_COORDINATOR",
            "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
            "NOT_LEADER_OR_FOLLOWER",
            "REQUEST_TIMED_OUT",
            "UNKNOWN_SERVER_ERROR",
        ),
    )
)
"""Errors that a broker may report although it has done the work: it waited for followers in vain, or is no
longer leader or coordinator (DelayedProduce, GroupCoordinatorService), or has stored the batch before
(ProducerStateManager), or failed for another reason."""

OPERATION_NOT_ATTEMPTED: Final = 55

Encode = Callable[[dict[str, Any]], bytes]
"""Returns the body of a response."""


def refuse(message: Message, only: Only, code: int, encode: Encode, *, after: bool) -> Effects:
    """Return the effects that refuse entries of a request.

    Args:
        message: The request.
        only: The entries.
        code: The error.
        encode: Returns the body of a response.
        after: Whether the broker gets the request whole.

    Raises:
        Unable: The request has no such entry.
    """
    split = only.split(message)
    if split.refused is None and not (split.open and (after or is_read(message.key))):
        reason = "an array of the request stands for all" if split.open else "no such entry"
        raise Unable(f"only {only.describe()}: {reason}")
    return refuse_divided(message, split, code, encode, only.describe(), after=after)


def refuse_divided(
    message: Message, split: Split, code: int, encode: Encode, entries: str, *, after: bool
) -> Effects:
    """Return the effects that refuse a part of a request.

    Args:
        message: The request.
        split: The request, divided into the refused part and the rest.
        code: The error.
        encode: Returns the body of a response.
        entries: A description of the refused entries.
        after: Whether the broker gets the request whole.
    """
    key, version, whole = message.key, message.version, after or is_read(message.key)
    description = f"respond {error_in(key, code)} for {entries}"
    if split.refused is split.request:  # the request itself is of the group, or of the producer
        body = encode(error_response(key, version, split.request, code))
        if after:
            return answer_later(message, lambda _: body, description, len(body), keeps_errors=True)
        return (Answer(body),)
    merges, rest = [split.merge(code, whole=whole or split.rest is None)], split.rest
    if key == ADD_PARTITIONS_TO_TXN and not whole:
        others = split.divided(partial(_is_in_transaction, _transactions(split.refused)))
        rest = others.rest
        unattempted = others.merge(OPERATION_NOT_ATTEMPTED, whole=rest is None)
        merges = [unattempted, split.merge(code, whole=True)]
    codec = api(key).response.codec(version)
    change = partial(_changed, codec, merges, encode)
    size = sum(merge.size for merge in merges)
    if whole:
        later = answer_later(message, change, description, size, keeps_errors=after)
        return (*_at_once(message, split), *later)
    if rest is None:
        if message.acks == 0:
            return (HangUp(),)
        return (Answer(encode(_merged(error_response(key, version, split.request, 0), merges))),)
    reduced = Become(message.encoded(rest), f"take out {entries}")
    return (reduced, *answer_later(message, change, description, size))


def answer_later(
    message: Message,
    change: Callable[[bytes], bytes],
    description: str,
    size: int,
    *,
    keeps_errors: bool = False,
) -> Effects:
    """Return the effects of a request that the broker gets, and whose response is changed.

    A Produce with acks=0 has no response: brokers close its connection.

    Args:
        message: The request.
        change: Returns the changed body of the response.
        description: A description of the change.
        size: The memory in bytes that the change takes.
        keeps_errors: Whether a response with an error stays as it is: the broker has done no work.
    """
    if keeps_errors:
        change = partial(_unless_refused, message.key, message.version, change)
    return (HangUp(forward=True),) if message.acks == 0 else (Amend(change, description, size),)


def _unless_refused(
    key: int, version: int, change: Callable[[bytes], bytes], response: bytes
) -> bytes:
    """Return the changed body of a response, or the unchanged one if it has an error."""
    try:
        return response if any(error_codes(key, version, response)) else change(response)
    except Malformed as problem:
        raise Unable(problem) from None


def _changed(codec: Codec, merges: list[Merge], encode: Encode, body: bytes) -> bytes:
    """Return the broker's response with the errors in it."""
    try:
        values = codec.decode(body)
    except Malformed as problem:
        raise Unable(problem) from None
    return encode(_merged(values, merges))


def _merged(values: dict[str, Any], merges: list[Merge]) -> dict[str, Any]:
    for merge in merges:
        values = merge.into(values)
    return values


def _at_once(message: Message, split: Split) -> Effects:
    """Let the broker answer a Fetch at once if it has a refused partition: errors do not wait for records."""
    if split.refused is None or message.key not in (FETCH, SHARE_FETCH):
        return ()
    values = message.values()
    if not values["max_wait_ms"]:
        return ()
    return (Become(message.encoded({**values, "max_wait_ms": 0}), "set max_wait_ms=0"),)


def _transactions(request: Part) -> frozenset[str] | None:
    """Return the transactional ids of a batch in AddPartitionsToTxn; None for one transaction."""
    batch = None if request is None else request.get("transactions")
    return None if not batch else frozenset(each["transactional_id"] for each in batch)


def _is_in_transaction(ids: frozenset[str] | None, identity: Identity) -> bool | None:
    """Return whether an entry is of these transactions: Kafka adds all partitions of one, or none."""
    if ids is None:
        return True
    return identity["transactional_id"] in ids if "transactional_id" in identity else None
