"""Whether a Fetch is sent by a broker or by a consumer."""

from __future__ import annotations

from typing import Any


def by_follower(request: dict[str, Any]) -> bool:
    """Whether a broker that follows a leader sends this Fetch request; False: a consumer.

    >>> by_follower({"replica_id": 2}), by_follower({"replica_state": {"replica_id": 2}})
    (True, True)
    >>> by_follower({"replica_id": -1}), by_follower({})
    (False, False)
    """
    state = request.get("replica_state") or {}
    return bool(request.get("replica_id", -1) >= 0 or state.get("replica_id", -1) >= 0)
