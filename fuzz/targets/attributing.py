"""Which case an entry of a log is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.requests import question
from barnabas.fuzz.targets.entries import about


def attributed(
    observations: Sequence[Observation], log: Sequence[str]
) -> tuple[list[Observation], tuple[str, ...]]:
    """Entries that name a connection are its case's; the others are left.

    A connection may have had several cases: it is the one with the request of that correlation id, or
    else the last. An entry that names a request only is that case's which alone has sent it.
    """
    found = list(observations)
    if not log:
        return found, ()
    ports: dict[object, list[int]] = {}
    ids: dict[int | None, list[int]] = {}
    for index, one in enumerate(found):
        ports.setdefault(dict(one.facts).get("port"), []).append(index)
        for number in {asked.correlation_id for asked in question(one.sent).requests}:
            ids.setdefault(number, []).append(index)
    left = []
    for entry in log:
        port, correlation_id = about(entry)
        asks = ids.get(correlation_id, [])
        candidates = ports.get(port, []) if port is not None else asks
        if not candidates or (port is None and len(candidates) > 1):
            left.append(entry)
            continue
        index = max(candidates, key=lambda i: (i in asks, found[i].ending != "open", i))
        found[index] = replace(found[index], log=(*found[index].log, entry))
    return found, tuple(left)
