"""Errors of getting a client."""

from __future__ import annotations


class UnavailableClientError(Exception):
    """A client can't be installed or built; the message is one line with what is missing."""


class UnknownClientError(LookupError):
    """No library has that name; the message is one line with the names."""
