"""Whether a client was told to wait: what waits then does as it was told."""

from __future__ import annotations

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.observations.changed_fields import changed
from barnabas.specs import Malformed, decode_frame


def told_to_wait(case: Case) -> bool:
    """Whether its throttle_time_ms was changed (KIP-219), or what is sent has a time in it, whatever was
    changed to that end."""
    seed = case.recipe.seed
    if any(one.endswith("throttle_time_ms") for one in changed(case)):
        return True
    try:
        frame = b"".join(case.chunks)[4:]
        sent = decode_frame(frame, "response", key=seed.key, version=seed.version)
    except Malformed:
        return False
    return int(sent.body.get("throttle_time_ms", 0)) > 0
