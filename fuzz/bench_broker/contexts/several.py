"""Sessions with more than one wrong response: the case's again and again, or further ones after it."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.bench_broker.contexts.context import Context
from barnabas.specs import keys

_REPEATED: Final = dict.fromkeys(
    (
        keys.METADATA,
        keys.FETCH,
        keys.LIST_OFFSETS,
        keys.FIND_COORDINATOR,
        keys.OFFSET_FETCH,
        keys.JOIN_GROUP,
        keys.SYNC_GROUP,
        keys.INIT_PRODUCER_ID,
    ),
    0,
)
"""APIs that a session requests repeatedly, without Produce: a producer may wait without end for the partition
of its records."""

_FOLLOWED: Final = dict.fromkeys(
    (
        keys.METADATA,
        keys.FETCH,
        keys.LIST_OFFSETS,
        keys.FIND_COORDINATOR,
        keys.JOIN_GROUP,
        keys.INIT_PRODUCER_ID,
    ),
    0,
)
"""APIs after whose responses a session has others."""

CONTEXTS: Final = (
    Context("every-time", _REPEATED, repeats=True),
    Context("together", _FOLLOWED, distorted=3),
)
