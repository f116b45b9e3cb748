"""Exchanges that say nothing, of which there are many: a terminal's log leaves them out, counted."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import API_VERSIONS, FETCH


@dataclass(slots=True)
class Folded:
    """How many of each kind were left out."""

    fetches: int = 0
    api_versions: int = 0

    def takes(self, exchange: Exchange) -> bool:
        """Count an exchange if it is one of those: an ApiVersions, or a Fetch that brought no records.

        Never one with an error, a rule that fired, a note, or a body that can't be read.
        """
        if exchange.key not in (FETCH, API_VERSIONS):
            return False
        if exchange.rules or exchange.note or exchange.error != "":
            return False
        if exchange.undecodable or exchange.too_large:
            return False
        if exchange.key == API_VERSIONS:
            self.api_versions += 1
            return True
        found = fields(exchange, "response", "responses.partitions.records")
        empty = found is not None and not any(
            partition["records"]
            for topic in found["responses"]
            for partition in topic["partitions"]
        )
        self.fetches += empty
        return empty

    @property
    def said(self) -> str:
        """What was left out, and how to see it; empty if nothing was.

        >>> Folded(fetches=3, api_versions=1).said
        '3 empty Fetches, 1 ApiVersions not shown: --no-quiet-fetches'
        """
        fetches = f"{self.fetches} empty {'Fetch' if self.fetches == 1 else 'Fetches'}"
        counts = (
            fetches if self.fetches else "",
            f"{self.api_versions} ApiVersions" if self.api_versions else "",
        )
        said = ", ".join(filter(None, counts))
        return f"{said} not shown: --no-quiet-fetches" if said else ""
