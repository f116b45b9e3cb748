"""Errors in responses that are part of normal operation: they guide a client, and nothing is wrong."""

from __future__ import annotations

from typing import Final

GUIDING: Final = ("MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS")
"""Errors by which the coordinator guides members of a group (KIP-394, KIP-62)."""

NEGOTIATING: Final = ("ApiVersions", "UNSUPPORTED_VERSION")
"""The API and the error by which a broker tells a newer client its versions (KIP-511)."""


def is_normal(api: str, error: str) -> bool:
    """Return whether an error is part of normal operation.

    >>> is_normal("JoinGroup", "MEMBER_ID_REQUIRED"), is_normal("Produce", "UNSUPPORTED_VERSION")
    (True, False)
    """
    return error in GUIDING or (api, error) == NEGOTIATING
