"""Divides a request into the entries that are refused, and those that the broker still gets.

`decide` receives what the fields so far identify, from the outermost structure inwards: the group, then the
topic, then the partition. An entry is refused on the outermost level where it decides. The declarations
define which fields identify something (`specs.entities.entity_fields`) and which entry answers which element
(`pairs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from barnabas.proxy.error_responses.error_response import by_position, error_response
from barnabas.proxy.error_responses.identities import Decide, Identities, Identity
from barnabas.proxy.error_responses.merge import Merge
from barnabas.proxy.error_responses.pairs import pairs
from barnabas.proxy.error_responses.reach import Branch, branches, is_read, named_by_request
from barnabas.specs.keys import METADATA

_EMPTY_IS_ALL: Final = (METADATA, 0)
"""The request in which an empty array stands for all topics (KIP-4); elsewhere null does."""

Part = dict[str, Any] | None
"""A part of a structure; None if it has no entries."""


class Split:
    """A request of which some entries are refused."""

    def __init__(
        self,
        key: int,
        version: int,
        request: dict[str, Any],
        decide: Decide,
        kinds: Iterable[str] = (),
    ) -> None:
        """Divide a request.

        Args:
            key: The API key.
            version: The version.
            request: The fields of the request.
            decide: Decides about entries.
            kinds: The kinds of things by which `decide` decides.
        """
        self._unnamed = {*kinds} - named_by_request(key, version)
        """The kinds of things that only the response names."""
        self._key = key
        self._version = version
        self.request = request
        self._decide = decide
        self._identities = Identities(key, version)
        self.open = False
        """Whether the response may have further entries to refuse: an array of the request stands for all, or
        the response has entries that the request does not name."""
        self.refused: Part
        """The request with the refused entries only."""
        self.rest: Part
        """The request with the other entries."""
        self.refused, self.rest = self._divide(request, branches(pairs(key, version)), (), {})

    def divided(self, decide: Decide) -> Split:
        """Return the same request, divided in another way."""
        return Split(self._key, self._version, self.request, decide)

    def merge(self, code: int, *, whole: bool) -> Merge:
        """Return how an error for the refused entries gets into the broker's response.

        Args:
            code: The error code.
            whole: Whether the broker gets the refused entries, too.
        """
        message, refused = (self._key, self._version), self.refused
        flags: dict[str, list[bool]] = {}
        for pair in filter(by_position, pairs(*message)):
            (name,) = pair.twins[0].path
            elements = {id(element) for element in (refused or {}).get(name) or ()}
            flags[pair.name] = [id(element) in elements for element in self.request[name]]
        return Merge(
            *message,
            code,
            self._decide,
            self._identities,
            error_response(*message, self.request, code),
            {} if refused is None else _acknowledged(error_response(*message, refused, code)),
            flags,
            self._identities.of("request", self.request, (), {}),
            whole,
        )

    def _divide(
        self,
        values: dict[str, Any],
        inner: tuple[Branch, ...],
        path: tuple[str, ...],
        above: Identity,
    ) -> tuple[Part, Part]:
        """Divide a structure into the refused part and the rest."""
        identity = self._identities.of("request", values, path, above)
        verdict = self._decide(identity)
        if verdict is None and not inner:
            verdict = self._names(values, path, identity)
            self.open |= not verdict and bool(self._unnamed)
        if verdict is not None:
            return (values, None) if verdict else (None, values)
        refused: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for branch in inner:
            items = values.get(branch.name)
            self.open |= items is None or (
                not items and (self._key, self._version) == _EMPTY_IS_ALL
            )
            parts = list(self._elements(items or (), branch, path, identity))
            refused[branch.name] = [part for part, _ in parts if part is not None]
            others[branch.name] = [rest for _, rest in parts if rest is not None]
        if not any(refused.values()):
            return None, values
        return {**values, **refused}, {**values, **others} if any(others.values()) else None

    def _elements(
        self, items: Iterable[Any], branch: Branch, path: tuple[str, ...], identity: Identity
    ) -> Iterator[tuple[Any, Any]]:
        """Yield each element of an array as (refused part, rest)."""
        path = (*path, branch.name)
        for item in items:
            if isinstance(item, dict):
                yield self._divide(item, branch.inner, path, identity)
            elif self._decide(self._identities.of_plain(path, item, identity)):
                yield item, None
            else:
                yield None, item

    def _names(self, values: dict[str, Any], path: tuple[str, ...], identity: Identity) -> bool:
        """Return whether something inside a structure decides that the structure is refused."""
        if not path and is_read(self._key):
            return False  # what a read names has no effect on the request itself
        for name, value in values.items():
            inner = (*path, name)
            kind = self._identities.kind(inner)
            if kind == "config" and value is None:  # null stands for all configs
                return bool(self._decide({**identity, kind: None}))
            for item in value if isinstance(value, list) else ():
                if isinstance(item, dict):
                    inner_identity = self._identities.of("request", item, inner, identity)
                    if self._decide(inner_identity) or self._names(item, inner, inner_identity):
                        return True
                elif self._decide(self._identities.of_plain(inner, item, identity)):
                    return True
        return False


def _acknowledged(response: dict[str, Any]) -> dict[str, Any]:
    """Return an error response to a ShareFetch whose acknowledgements the broker has carried out."""
    for topic in response.get("responses", ()):
        for partition in topic.get("partitions", ()):
            if "acknowledge_error_code" in partition:
                partition["acknowledge_error_code"] = 0
    return response
