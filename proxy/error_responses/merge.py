"""Puts the errors of refused entries into the broker's response to the other entries, or to all."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from barnabas.proxy.error_responses.error_response import by_position, error_entry
from barnabas.proxy.error_responses.identities import NO_ID, Decide, Identities, Identity
from barnabas.proxy.error_responses.pairs import Pair, is_code, pairs

_ALTERNATIVES: Final = ("topic", "topic_id", "member", "instance")
"""Kinds of fields of which one suffices: a topic has a name or an id, a member an id or an instance id."""

_UNNAMED: Final = (None, "", NO_ID)

_RETAINED: Final = ("acknowledge_error_code", "acknowledge_error_message")
"""Fields of an entry that report another result than its error: of acknowledgements in ShareFetch."""


class Merge(NamedTuple):
    """The errors of a response, to be put into the broker's response. It has no part of the request."""

    key: int
    version: int
    code: int
    decide: Decide
    identities: Identities
    order: dict[str, Any]
    """An error response to the whole request: it has all entries, in the request's order."""
    errors: dict[str, Any]
    """An error response to the refused part of the request."""
    flags: dict[str, list[bool]]
    """Arrays whose entries only their positions identify -> for each entry whether it is refused."""
    identity: Identity
    """What the top level of the request identifies."""

    def into(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the broker's response with the errors in it; the given values may be changed.

        The response is to all of the request or to the rest. Entries that it lacks are added, and all entries
        are in the request's order. A response that refuses the whole request stays unchanged.
        """
        if not values.get("error_code"):
            answered = pairs(self.key, self.version)
            self._struct(values, self.errors, self.order, answered, (), self.identity)
        return values

    def _struct(
        self,
        values: dict[str, Any],
        errors: dict[str, Any],
        order: dict[str, Any],
        inner: tuple[Pair, ...],
        path: tuple[str, ...],
        identity: Identity,
    ) -> None:
        """Put errors into the arrays of a structure of the response."""
        for pair in inner:
            new = errors.get(pair.name) or []
            entries = values.get(pair.name) or []
            if not (entries or new):
                continue
            if by_position(pair):
                values[pair.name] = self._by_position(pair, entries, new)
            else:
                at, requested = (*path, pair.name), order.get(pair.name) or []
                values[pair.name] = self._entries(pair, entries, new, requested, at, identity)

    def _by_position(self, pair: Pair, entries: list[Any], errors: list[Any]) -> list[Any]:
        """Return the entries of an array whose entries only their positions identify."""
        flags = self.flags[pair.name]
        whole = len(entries) == len(flags)
        results, refusals = iter(entries), iter(errors)
        merged = []
        for flag in flags:
            result = next(results, None) if whole or not flag else None
            entry = next(refusals, None) if flag else result
            if entry is not None:
                merged.append(entry)
        return merged

    def _entries(
        self,
        pair: Pair,
        entries: list[Any],
        errors: list[Any],
        order: list[Any],
        path: tuple[str, ...],
        above: Identity,
    ) -> list[Any]:
        """Return the entries of an array in the request's order, refused ones with their error."""
        fields = self.identities.identifying(path)
        refusals, positions = _Index(fields, errors), _Index(fields, order)
        missing = dict(enumerate(errors))
        merged: list[tuple[int, Any]] = []
        for entry in entries:
            at, error = refusals.find(entry)
            missing.pop(at, None)
            rank, requested = positions.find(entry)
            merged.append((rank, self._entry(pair, entry, error, requested or {}, path, above)))
        merged += [(positions.find(error)[0], error) for error in missing.values()]
        return [entry for _, entry in sorted(merged, key=lambda ranked: ranked[0])]

    def _entry(
        self,
        pair: Pair,
        entry: dict[str, Any],
        error: dict[str, Any] | None,
        order: dict[str, Any],
        path: tuple[str, ...],
        above: Identity,
    ) -> dict[str, Any]:
        """Return an entry of the broker, or the error in its place."""
        identity = self.identities.of("response", entry, path, above)
        verdict = self.decide(identity)
        reports = any(is_code(slot) for slot in pair.element.slots)
        # the request may decide by something that the response does not name, such as a producer
        if (verdict and reports) or (verdict is None and error is not None and not pair.inner):
            known = {name: entry[name] for name in self.identities.identifying(path)}
            refusal = error or error_entry(self.key, pair, self.code, known)
            names = [name for name in known if refusal[name] is None]
            names += [name for name in _RETAINED if name in entry]
            return refusal | {name: entry[name] for name in names}
        if verdict is not False:
            self._struct(entry, error or {}, order, pair.inner, path, identity)
        return entry


class _Index:
    """Entries of an array by what identifies them."""

    def __init__(self, fields: Mapping[str, str], entries: list[dict[str, Any]]) -> None:
        self._fields = fields
        self._end = len(entries)
        self._entries: dict[Hashable, tuple[int, dict[str, Any]]] = {}
        for at, entry in enumerate(entries):
            for key in self._keys(entry):
                self._entries.setdefault(key, (at, entry))

    def find(self, entry: dict[str, Any]) -> tuple[int, dict[str, Any] | None]:
        """Return the position of the entry about the same thing, and the entry; the end if there is none."""
        entries = (self._entries.get(key) for key in self._keys(entry))
        return next((each for each in entries if each is not None), (self._end, None))

    def _keys(self, entry: dict[str, Any]) -> Iterator[Hashable]:
        """Yield the keys of an entry: one for each name of its topic or member, with all other fields."""
        named = [(kind, entry.get(name)) for name, kind in self._fields.items()]
        others = tuple(each for each in named if each[0] not in _ALTERNATIVES)
        names = [each for each in named if each[0] in _ALTERNATIVES and each[1] not in _UNNAMED]
        yield from ((*name, others) for name in names)
        if not names:
            yield others
