"""`record:`, a rule's condition on the records of a message, as applications see them."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.expression import Expression, Unclear
from barnabas.captures.values.record import FIELDS, record_form
from barnabas.captures.values.record_sets import has_records, records_of, size_of
from barnabas.nearest import did_you_mean
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.message import Message, Unable
from barnabas.specs.malformed import Malformed

MOST: Final = 10_000
"""The most records of a message that are read: a small one takes 10 us in JSON and 30 us in Protobuf, and
all clients wait meanwhile."""

BYTES: Final = 4 << 20
"""The most bytes of all these records, and of one batch after decompression."""


def check(condition: Expression, match: Match) -> list[str]:
    """Return the problems of a condition on the records of these messages."""
    problems = [
        f"records have no field {root!r}{did_you_mean(root, FIELDS)}"
        for root in condition.roots or ()
        if root not in FIELDS
    ]
    if not any(has_records(key, direction) for key, direction, _ in match.kinds()):
        problems.append(f"no {match.kind} has records")
    return problems


def any_holds(condition: Expression, message: Message) -> bool:
    """Return whether one of the message's records meets a condition.

    Raises:
        Unclear: No record meets it, and some record cannot be decided.
    """
    unclear, size = "", 0
    try:
        for index, record in enumerate(records_of(message.values(), BYTES)):
            size += size_of(record)
            if index == MOST or size > BYTES:
                raise Unclear(f"more than {MOST:,} records, or {BYTES >> 20} MiB of them")
            form = record_form(record, message.reading)
            try:
                if condition.holds(form):
                    return True
            except Unclear as why:
                unclear = unclear or str(why)
            for part, why_not in form.get("why", {}).items():
                if part in form.get("schema", {}):
                    unclear = unclear or why_not
    except (Malformed, Unable) as problem:
        raise Unclear(message.too_large or f"records: {problem}") from None
    if unclear:
        raise Unclear(unclear)
    return False
