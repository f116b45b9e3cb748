"""The coordinator's check of registrations."""

from __future__ import annotations

from typing import Any, Final

from barnabas.designs.central_coordination.peers.group import Group
from barnabas.designs.central_coordination.peers.interest import parse
from barnabas.designs.central_coordination.schemas import AUTO_OFFSET_RESET

SESSION_LIMIT: Final = 3_600_000
"""ms of the longest session: nothing waits for ever."""


def refused(body: dict[str, Any], group: Group | None, least_session_ms: int) -> tuple[str, str]:
    """Check a registration; return the error (NONE: accepted) and the reason.

    These are the document's two checks, and a check for invalid values.
    """
    if group is not None and body["consumer_id"] in group.consumers:
        return "DuplicateConsumerId", f"{body['group_id']} has a consumer with this id"
    session = body["session_timeout_ms"]
    if session < least_session_ms:
        return (
            "SessionTimeoutTooLow",
            f"session_timeout_ms {session}, the least is {least_session_ms}",
        )
    if session > SESSION_LIMIT:
        return "Unknown", f"session_timeout_ms {session}, the most is {SESSION_LIMIT}"
    if body["auto_offset_reset"] not in AUTO_OFFSET_RESET:
        return "Unknown", f"auto_offset_reset {body['auto_offset_reset'][:20]!r}"
    try:
        parse(body["topic_count"])
    except ValueError as problem:
        return "Unknown", f"topic_count: {problem}"
    return "NONE", ""
