"""The severity of findings, by which they are sorted."""

from __future__ import annotations

from typing import Final, NamedTuple


class Severity(NamedTuple):
    """A severity. rank: 0 is the gravest. order: of the oracles of one severity."""

    rank: int
    order: int
    name: str


SEVERITIES: Final = (
    ("crash", ("died", "client-died")),
    ("memory", ("fatal", "client-memory", "amplified", "greedy")),
    ("hang", ("hung", "client-hung", "costly", "unanswered")),
    (
        "wrong data",
        (
            "client-wrong-data",
            "silent",
            "damaged",
            "round_trip",
            "clients-differ",
            "differing",
            "responses",
        ),
    ),
    (
        "undocumented error",
        ("undocumented", "client-raised", "traceback", "server_error", "closing"),
    ),
    ("log", ("logged",)),
)
"""(severity, oracles), the gravest first."""


def severity(oracle: str) -> Severity:
    """Return the severity of an oracle's findings; that of an unknown oracle is the least.

    >>> severity("client-hung")
    Severity(rank=2, order=1, name='hang')
    """
    for rank, (name, oracles) in enumerate(SEVERITIES):
        if oracle in oracles:
            return Severity(rank, oracles.index(oracle), name)
    return Severity(len(SEVERITIES), 0, "other")
