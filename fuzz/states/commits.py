"""A request by which a client waits until a group coordinator has committed its records.

Since 4.0 coordinators describe only what is committed, but answer members before (CoordinatorRuntime).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.states.alphabet import Input, Memory
from barnabas.specs import keys

_ENDS: Final = ("Aa", "BB")
"""Names that differ in this have one hash (String.hashCode), and so one partition of __consumer_offsets."""


def group(name: str) -> str:
    """Return a group id that has a twin in its partition."""
    return name + _ENDS[0]


def _twins_offsets(memory: Memory) -> Mapping[str, Any]:
    twin = memory["group_id"].removesuffix(_ENDS[0]) + _ENDS[1]
    return {"group_id": twin, "member_id": "", "generation_id_or_member_epoch": -1}


COMMITTED: Final = Input("OffsetCommit of the twin", keys.OFFSET_COMMIT, _twins_offsets, most=9)
"""Its response shows that all earlier records of the partition are committed."""
