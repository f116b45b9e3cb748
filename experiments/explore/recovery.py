"""How long a client took to get over a fault."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.experiments.explore.recording import Seen
from barnabas.specs.frames import Direction


def recovery_ms(exchanges: Iterable[Seen], rule: str, direction: Direction) -> float | None:
    """From the moment at which the rule fired to the end of the next exchange of that API by that
    client that had a response without an error; None if there was none, or it never fired.

    A rule on requests fires when the request arrives, one on responses when the response leaves. The
    next exchange is one whose request came later.
    """
    ordered = sorted(exchanges, key=lambda one: one.ts)
    hit = next((one for one in ordered if rule in one.rules), None)
    if hit is None:
        return None
    fired = hit.ts if direction == "request" or hit.left is None else hit.left
    for one in ordered:
        later = one.ts > hit.ts and one.ts >= fired
        same = (one.client_id, one.api) == (hit.client_id, hit.api)
        if later and same and one.error == "" and one.left is not None:
            return round((one.left - fired) / 1e6, 3)
    return None
