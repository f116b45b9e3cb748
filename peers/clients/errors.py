"""Errors of installing a client."""

from __future__ import annotations


class UnavailableClientError(Exception):
    """A client can't be installed or built; the message is one line with the missing part."""


class UnknownClientError(LookupError):
    """No client library has that name; the message is one line with the known names."""
