"""Recorded exchanges in the live cluster's terms, by all that its responses have shown so far."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.replay.batches import Sequences, renew_batches
from barnabas.peers.replay.generations import GenerationLeaders
from barnabas.peers.replay.identities import Identities, copy_structures, replace_field, scope_of
from barnabas.peers.replay.offsets import Offsets, partitions
from barnabas.peers.replay.order import Index
from barnabas.peers.replay.outcome import expected_response
from barnabas.peers.replay.routing import OF_LEADERS
from barnabas.peers.replay.versions import convert, version_for
from barnabas.specs.keys import END_TXN, JOIN_GROUP, PRODUCE, SYNC_GROUP

BY_ID: Final = 13
"""From this version of Produce on topics have ids and no names."""


class Translation:
    """Recorded exchanges translated to the live cluster's terms. shift_ms: added to records' timestamps."""

    def __init__(self, index: Index, shift_ms: int = 0) -> None:
        self._index = index
        self._shift_ms = shift_ms
        self._identities = Identities()
        self._offsets = Offsets(index.topics)
        self._sequences = Sequences()
        self._leading = GenerationLeaders(index.assignments)

    def request(
        self, exchange: Exchange, request: dict[str, Any], offered: Mapping[int, tuple[int, int]]
    ) -> tuple[int, dict[str, Any]]:
        """Return the live version and body of a request.

        Args:
            exchange: the recorded exchange.
            request: its request, with all partitions of a fetch session.
            offered: the cluster's versions by API key.

        Raises:
            NotReplayable: The cluster's versions can't express it.
            Malformed: Its records can't be read.
        """
        key = exchange.key
        version = version_for(key, exchange.version, offered)
        scope = scope_of(request)
        body = copy_structures(convert(key, request, exchange.version, version, self._index.topics))
        self._offsets.translate(key, "request", body)
        if key == PRODUCE:
            self._renew(body)
        elif key in OF_LEADERS:  # epochs of the recorded log; -1: unknown
            body = replace_field(body, "current_leader_epoch", lambda _: -1)
            body = replace_field(body, "last_fetched_epoch", lambda _: -1)
        elif key == SYNC_GROUP:
            member = self._identities.live("member", request["member_id"], scope)
            generation = self._identities.live("generation", request["generation_id"], scope)
            body["assignments"] = self._leading.assignments_for(request, member, generation)
        return version, self._identities.translate(body, scope)

    def response(
        self, exchange: Exchange, recorded: dict[str, Any], version: int
    ) -> dict[str, Any]:
        """Return the live response that the recorded one leads to expect, in `version`.

        Raises:
            NotReplayable: That version can't express it.
        """
        known = self._identities, self._offsets
        versions = exchange.version, version
        return expected_response(exchange.key, versions, recorded, known, _scope(exchange))

    def learn(
        self, exchange: Exchange, version: int, request: dict[str, Any], live: dict[str, Any]
    ) -> None:
        """Learn live ids and offsets from a live response. version, request: of the live request."""
        recorded = exchange.response
        if recorded is None:
            return
        self._identities.learn(recorded, live, _scope(exchange))
        if exchange.key == PRODUCE:
            self._offsets.learn(recorded, live, self._live_names() if version >= BY_ID else {})
        elif exchange.key == JOIN_GROUP:
            self._leading.learn(request["group_id"], live)
        elif exchange.key == END_TXN and (
            recorded.get("producer_id", -1) >= 0 > live.get("producer_id", -1)
        ):  # without KIP-890 the producer goes on as it is
            self._identities.producer_is(
                (recorded["producer_id"], recorded["producer_epoch"]),
                (request["producer_id"], request["producer_epoch"]),
            )

    def _renew(self, body: dict[str, Any]) -> None:
        for partition, entry in partitions(body, "index"):
            if entry["records"]:
                entry["records"] = renew_batches(
                    entry["records"], partition, self._identities, self._sequences, self._shift_ms
                )

    def _live_names(self) -> dict[uuid.UUID, str]:
        return {
            self._identities.live("topic", topic, None): name
            for topic, name in self._index.topics.items()
        }


def _scope(exchange: Exchange) -> str | None:
    return scope_of(exchange.request or {})
