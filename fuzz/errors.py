"""What ends a campaign before it begins."""

from __future__ import annotations


class CannotRun(Exception):
    """Something is missing that a campaign needs: one line that says what, and what to do."""


class Misuse(Exception):
    """What was asked for can't be meant: one line that says what is wrong with it."""
