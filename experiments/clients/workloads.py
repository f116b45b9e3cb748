"""What a client is made to do, and what it promises when it does."""

from __future__ import annotations

from typing import Final, NamedTuple


class Workload(NamedTuple):
    """A function of the same name in each program (`peers/clients/programs/*_workloads.py`).

    once: a record that is sent is in the log once. written: the records that it reads are there before it
    begins. embedded: whether the embedded cluster does faithfully what it needs.
    """

    name: str
    what: str
    once: bool = False
    written: bool = False
    embedded: bool = False


WORKLOADS: Final = (
    Workload("produce", "a producer sends records, with the library's defaults", embedded=True),
    Workload("idempotent", "the same, idempotent: each record is written once", once=True),
    Workload(
        "transact",
        "a producer sends records in transactions, and aborts each third",
        once=True,
    ),
    Workload(
        "group",
        "a consumer of a group of the classic protocol reads records, and commits what it has read",
        written=True,
    ),
)
"""All of them."""


def find(name: str) -> Workload:
    """The workload of that name. Raises LookupError, in words.

    >>> find("produce").once
    False
    """
    for one in WORKLOADS:
        if one.name == name:
            return one
    known = ", ".join(one.name for one in WORKLOADS)
    raise LookupError(f"unknown workload {name!r}; choose from {known}")
