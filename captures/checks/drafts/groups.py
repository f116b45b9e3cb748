"""What the designs' messages say of groups, as Kafka's classic groups would: one place for each design."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.captures.checks.answered import Answered
from barnabas.captures.checks.drafts.central_groups import CentralGroups
from barnabas.captures.checks.drafts.rewrite_groups import RewriteGroups
from barnabas.captures.kafka.context.memory import BYTES
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.drafts.keys import STEP


class DraftGroups:
    """Reads exchanges in the order in which they end. Of one that is about a group the first that it says
    has the member and its generation."""

    def __init__(self, bytes_: int = BYTES) -> None:
        self._rewrite, self._central = RewriteGroups(bytes_), CentralGroups(bytes_)

    @property
    def forgotten(self) -> int:
        """Groups and consumers that were forgotten because there were too many."""
        return self._rewrite.forgotten + self._central.forgotten

    def of(self, exchange: Exchange) -> Iterable[Answered]:
        """What it says; nothing of what is Kafka's own, or can't be read."""
        if exchange.key < STEP:
            return ()
        return *self._rewrite.of(exchange), *self._central.of(exchange)
