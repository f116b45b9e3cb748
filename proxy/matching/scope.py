"""The entries of a message that a fault is about: one partition, one group, one producer."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final, Self

from pydantic import model_validator

from barnabas.captures.kafka.expression import Unclear
from barnabas.proxy.error_responses.identities import Decide, Identity
from barnabas.proxy.error_responses.reach import nameable
from barnabas.proxy.error_responses.split import Split
from barnabas.proxy.matching.message import Message, Unable, UnknownSession, Unnamed
from barnabas.proxy.matching.notation import LAST, Globs, Integers, PartitionRanges, range_text
from barnabas.proxy.matching.settings import Settings, some_of

KINDS: Final = (
    *("topic", "partition", "group", "transactional_id", "producer_id", "member", "resource"),
    *("config", "principal"),
)
"""The kinds of things by which entries are chosen."""


_ALIASES: Final = {"member": ("instance",)}
"""A kind of thing -> other kinds of names that it has."""


class Only(Settings, json_schema_extra=some_of(*KINDS)):
    """The entries of the request to refuse; an entry must meet all conditions. The broker does the rest."""

    topic: Globs = None
    """A glob, or a list of them: entries of such topics."""
    partition: PartitionRanges = None
    """A partition (`0`), a range (`0-2`, `12+`), or a list of them."""
    group: Globs = None
    """A glob, or a list of them: entries of such groups, also in FindCoordinator."""
    transactional_id: Globs = None
    """A glob, or a list of them: entries of such transactional ids, also in FindCoordinator."""
    producer_id: Integers = None
    """A producer id, or a list of them; in Produce, that of the batches."""
    member: Globs = None
    """A glob, or a list of them: entries of members with such a member id or group instance id."""
    resource: Globs = None
    """A glob, or a list of them: entries of resources with such a name, in requests about configs or ACLs."""
    config: Globs = None
    """A glob, or a list of them: resources of which such a config is named."""
    principal: Globs = None
    """A glob (`User:*`), or a list of them: ACLs of such principals."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.kinds:
            raise ValueError(f"give {', '.join(KINDS[:-1])} or {KINDS[-1]}")
        return self

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of things that the settings name."""
        return tuple(kind for kind in KINDS if getattr(self, kind) is not None)

    def names_in(self, key: int, version: int) -> bool:
        """Return whether an entry of such requests, or of their responses, can meet the conditions."""
        return nameable(key, version).issuperset(self.kinds)

    def split(self, message: Message) -> Split:
        """Return a request, divided into the entries that meet the conditions and the others.

        Raises:
            Unable: The request cannot be read.
        """
        split, _ = self._split(message, set())
        return split

    def concerns(self, message: Message, *, whole: bool) -> bool:
        """Return whether a request has such an entry.

        Args:
            message: The request.
            whole: Whether the broker gets the whole request, so that its response may have such an entry.

        Raises:
            Unclear: The request cannot be read, names topics by ids whose names are unknown, or is of a
                session that began before the rule.
        """
        unnamed: set[uuid.UUID] = set()
        try:
            split, complete = self._split(message, unnamed)
        except Unable as problem:
            raise Unclear(problem.place) from None
        if split.refused is not None:
            return True
        if unnamed:
            raise Unnamed(unnamed)
        if not complete:
            raise UnknownSession
        return whole and split.open

    def _split(self, message: Message, unnamed: set[uuid.UUID]) -> tuple[Split, bool]:
        """Return the divided request, and whether all partitions of its session are known."""
        values, complete = message.values(), True
        if message.sessions is not None:
            values, complete = message.sessions.completed(message.broker, values)
        decide = self._decide(message.topics, unnamed)
        split = Split(message.key, message.version, values, decide, self.kinds)
        split.open &= message.sessions is None
        return split, complete

    def describe(self) -> str:
        """Return the conditions as text.

        >>> Only.model_validate({"topic": "orders", "partition": ["1", "3-4"]}).describe()
        'topic orders partition 1 or 3-4'
        """
        return " ".join(f"{kind} {' or '.join(self._texts(kind))}" for kind in self.kinds)

    def _texts(self, kind: str) -> Iterator[str]:
        for value in sorted(getattr(self, kind)):
            yield range_text(value[0], value[1], LAST) if kind == "partition" else str(value)

    def _decide(self, topics: Mapping[uuid.UUID, str], unnamed: set[uuid.UUID]) -> Decide:
        """Return the function that decides about entries; it adds topic ids without a name to a set."""

        def decide(identity: Identity) -> bool | None:
            others = {self._meets(kind, identity) for kind in self.kinds if kind != "topic"}
            if False in others or self.topic is None:
                return False if False in others else None if None in others else True
            name, topic = identity.get("topic"), identity.get("topic_id")
            if name is None and topic is not None:
                name = topics.get(topic)
                if name is None and None not in others:
                    unnamed.add(topic)
            if name is None:
                return None
            met = any(fnmatchcase(name, glob) for glob in self.topic)
            return False if not met else None if None in others else True

        return decide

    def _meets(self, kind: str, identity: Identity) -> bool | None:
        """Return whether an identity meets a condition; None if it does not name such a thing."""
        condition = getattr(self, kind)
        names = [identity[each] for each in (kind, *_ALIASES.get(kind, ())) if each in identity]
        if not names:
            return None
        if kind == "partition":
            return any(low <= names[0] <= high for low, high in condition)
        if kind == "producer_id":
            return names[0] in condition
        return any(name is None or fnmatchcase(name, glob) for name in names for glob in condition)
