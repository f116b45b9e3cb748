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
    for index, one in enumerate(found):
        ports.setdefault(dict(one.facts).get("port"), []).append(index)
    left = []
    for entry in log:
        port, correlation_id = about(entry)
        if port is not None:
            candidates = ports.get(port, [])
        else:
            candidates = [i for i, one in enumerate(found) if _asks(one, correlation_id)]
        if not candidates or (port is None and len(candidates) > 1):
            left.append(entry)
            continue
        index = max(
            candidates,
            key=lambda i: (_asks(found[i], correlation_id), found[i].ending != "open", i),
        )
        found[index] = replace(found[index], log=(*found[index].log, entry))
    return found, tuple(left)


def _asks(observation: Observation, correlation_id: int | None) -> bool:
    if correlation_id is None:
        return False
    return any(one.correlation_id == correlation_id for one in question(observation.sent).requests)
