"""Why a client can't be had."""

from __future__ import annotations


class UnavailableClientError(Exception):
    """It can't be installed or built: one line that says what is missing."""


class UnknownClientError(LookupError):
    """No library is called so: one line that says what there is."""
