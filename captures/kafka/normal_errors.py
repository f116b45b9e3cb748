"""Errors in responses that are part of normal operation: they guide a client, and nothing is wrong."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.exchange import Exchange

GUIDING: Final = ("MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS")
"""Errors by which the coordinator guides members of a group (KIP-394, KIP-62)."""

NEGOTIATING: Final = ("ApiVersions", "UNSUPPORTED_VERSION")
"""The API and the error by which a broker tells a newer client its versions (KIP-511)."""


NOT_NORMAL: Final = " && ".join(
    (
        f"!(api == '{NEGOTIATING[0]}' && error == '{NEGOTIATING[1]}')",
        *(f"error != '{error}'" for error in GUIDING),
    )
)
"""The condition, in the language of filters, that holds unless the error is part of normal operation."""

ERRORS: Final = f"error && {NOT_NORMAL}"
"""The condition that holds for the exchanges of `is_failed`."""


def is_failed(exchange: Exchange) -> bool:
    """Return whether a response has an error that is no part of normal operation."""
    return bool(exchange.error) and not is_normal(exchange.api, exchange.error or "")


def is_normal(api: str, error: str) -> bool:
    """Return whether an error is part of normal operation.

    >>> is_normal("JoinGroup", "MEMBER_ID_REQUIRED"), is_normal("Produce", "UNSUPPORTED_VERSION")
    (True, False)
    """
    return error in GUIDING or (api, error) == NEGOTIATING
