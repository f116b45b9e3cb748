"""Errors that end a campaign before it begins."""

from __future__ import annotations


class CannotRun(Exception):
    """A requirement of a campaign is missing; the message is one line with the remedy."""


class Misuse(Exception):
    """An invalid request of the user; the message is one line that names the mistake."""
