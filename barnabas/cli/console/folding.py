"""Exchanges that a terminal's log hides and counts: ApiVersions, and Fetches without records."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import API_VERSIONS, FETCH


@dataclass(slots=True)
class Folded:
    """The numbers of ApiVersions and empty Fetches that a log leaves out."""

    fetches: int = 0
    api_versions: int = 0

    def takes(self, exchange: Exchange) -> bool:
        """Count an exchange, and return True, if it is an ApiVersions or a Fetch without records.

        Exchanges with an error, a rule that fired, a note or an undecodable body are never hidden.
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
        response = fields(exchange, "response", "responses.partitions.records")
        empty = response is not None and not any(
            partition["records"]
            for topic in response["responses"]
            for partition in topic["partitions"]
        )
        self.fetches += empty
        return empty

    @property
    def note(self) -> str:
        """Return a note on the hidden exchanges and the option that shows them; empty if none was hidden.

        >>> Folded(fetches=3, api_versions=1).note
        '3 empty Fetches, 1 ApiVersions not shown: --no-quiet-fetches'
        """
        fetches = f"{self.fetches} empty {'Fetch' if self.fetches == 1 else 'Fetches'}"
        counts = (
            fetches if self.fetches else "",
            f"{self.api_versions} ApiVersions" if self.api_versions else "",
        )
        hidden = ", ".join(filter(None, counts))
        return f"{hidden} not shown: --no-quiet-fetches" if hidden else ""
