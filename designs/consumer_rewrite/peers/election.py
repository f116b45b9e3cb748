"""The leaders of slots: each broker stands in all elections, and leads a part of the slots.

"Every broker is elected as the coordinator for a subset of the consumer groups", says the document, without a
method. Slots and nodes lie on a circle here, each at a step of the golden ratio from the preceding one, which
spreads any number of them; the candidates of a slot rank in the order in which they follow it. So a slot's
leader changes only if the leader goes, or a better candidate comes.
"""

from __future__ import annotations

from typing import Final

from barnabas.designs.brokers.registry import Rank

STEP: Final = (5**0.5 - 1) / 2


def rank_for(slot: int) -> Rank:
    """Return the function that ranks a node by its distance after a slot on the circle.

    >>> [min((1, 2, 3), key=rank_for(slot)) for slot in range(8)]
    [2, 1, 2, 3, 1, 2, 3, 1]
    """
    return lambda node: (node - slot) * STEP % 1
