"""How partitions and offsets are said to the person."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.designs.leaders import Place, by_topic


def positions_of(start: Mapping[Place, int]) -> str:
    """Partitions with the offsets from which they are fetched; `-`: none is known.

    >>> positions_of({("t", 1): 3, ("t", 0): 7, ("u", 0): -1})
    't[0:7 1:3] u[0:-]'
    """
    told = {place: "-" if offset < 0 else str(offset) for place, offset in sorted(start.items())}
    return " ".join(
        f"{topic}[{' '.join(f'{number}:{at}' for number, at in parts)}]"
        for topic, parts in by_topic(told.items())
    )
