"""Puts the errors of refused entries into the broker's response to the other entries, or to all."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from barnabas.proxy.error_responses.error_response import by_position, error_entry
from barnabas.proxy.error_responses.identities import NO_ID, Decide, Identities, Identity
from barnabas.proxy.error_responses.pairs import Pair, is_code, pairs

_ALTERNATIVES: Final = ("topic", "topic_id", "member", "instance")
"""Kinds of fields of which one suffices: a topic has a name or an id, a member an id or an instance id."""

_UNNAMED: Final = (None, "", NO_ID)

_RETAINED: Final = ("acknowledge_error_code", "acknowledge_error_message")
"""Fields of an entry that report another result than its error: of acknowledgements in ShareFetch."""

_ENTRY: Final = 250
"""The memory in bytes that an entry takes, about."""


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
    whole: bool
    """Whether the broker got the refused entries, too."""

    @property
    def size(self) -> int:
        """Return about how much memory the errors take, in bytes."""
        return _ENTRY * (_count(self.order) + _count(self.errors))

    def into(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the broker's response with the errors in it; the given values may be changed.

        Entries that the response lacks are added, and all entries are in the request's order. A response that
        refuses the whole request stays unchanged.
        """
        if not values.get("error_code"):
            answered = pairs(self.key, self.version)
            errors = {pair.name: self._joined(pair, self.errors, (pair.name,)) for pair in answered}
            order = {pair.name: self._joined(pair, self.order, (pair.name,)) for pair in answered}
            if self.whole:
                self._overwrite(values, errors, answered, (), self.identity)
            self._add(values, errors, answered, ())
            self._sort(values, order, answered, ())
        return values

    def _joined(self, pair: Pair, values: dict[str, Any], path: tuple[str, ...]) -> list[Any]:
        """Return the entries of an array as copies, those about the same thing as one entry."""
        entries: list[dict[str, Any]] = []
        index = _Index(self.identities.identifying(path), ())
        for entry in values.get(pair.name) or ():
            _, known = (0, None) if by_position(pair) else index.find(entry)
            joined = known or dict(entry)
            for inner in pair.inner:
                added = self._joined(inner, entry, (*path, inner.name))
                joined[inner.name] = [*joined[inner.name], *added] if known else added
            if known is None:
                entries.append(joined)
                index.add(joined)
        return entries

    def _overwrite(
        self,
        values: dict[str, Any],
        errors: dict[str, Any],
        inner: tuple[Pair, ...],
        path: tuple[str, ...],
        identity: Identity,
    ) -> None:
        """Put errors in the place of the broker's entries, and remove them from the errors."""
        for pair in inner:
            entries, at = values.get(pair.name) or [], (*path, pair.name)
            if by_position(pair):
                continue
            missing, used = errors.get(pair.name) or [], set[int]()
            index = _Index(self.identities.identifying(at), missing)
            for position, entry in enumerate(entries):
                _, error = index.find(entry)
                known = self.identities.of("response", entry, at, identity)
                if self._refused(pair, known, error):
                    entries[position] = self._error(pair, entry, error, at)
                    used.add(id(error))
                elif self.decide(known) is not False:
                    self._overwrite(entry, error or {}, pair.inner, at, known)
            errors[pair.name] = [error for error in missing if id(error) not in used]

    def _refused(self, pair: Pair, identity: Identity, error: dict[str, Any] | None) -> bool:
        """Return whether an entry of the broker reports a result that is refused."""
        verdict = self.decide(identity)
        if verdict is None:  # the request may decide by something that the response does not name
            return error is not None and not pair.inner
        return verdict and any(is_code(slot) for slot in pair.element.slots)

    def _error(
        self, pair: Pair, entry: dict[str, Any], error: dict[str, Any] | None, path: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return the error in the place of an entry of the broker."""
        known = {name: entry[name] for name in self.identities.identifying(path)}
        refusal = error or error_entry(self.key, pair, self.code, known)
        names = [name for name in known if refusal[name] is None]
        names += [name for name in _RETAINED if name in entry]
        return refusal | {name: entry[name] for name in names}

    def _add(
        self,
        values: dict[str, Any],
        errors: dict[str, Any],
        inner: tuple[Pair, ...],
        path: tuple[str, ...],
    ) -> None:
        """Add the remaining errors to the arrays of a structure of the response."""
        for pair in inner:
            missing = errors.get(pair.name) or []
            if not missing:
                continue
            at, entries = (*path, pair.name), values.get(pair.name) or []
            if by_position(pair):
                values[pair.name] = self._by_position(pair, entries, missing)
                continue
            index = _Index(self.identities.identifying(at), entries)
            for error in missing:
                _, entry = index.find(error)
                if entry is not None:
                    self._add(entry, error, pair.inner, at)
                elif not pair.inner or any(error[each.name] for each in pair.inner):
                    entries.append(error)
            values[pair.name] = entries

    def _by_position(self, pair: Pair, entries: list[Any], errors: list[Any]) -> list[Any]:
        """Return the entries of an array whose entries only their positions identify."""
        flags = self.flags[pair.name]
        results, refusals = iter(entries), iter(errors)
        merged = []
        for flag in flags:
            result = next(results, None) if self.whole or not flag else None
            entry = next(refusals, None) if flag else result
            if entry is not None:
                merged.append(entry)
        return merged

    def _sort(
        self,
        values: dict[str, Any],
        order: dict[str, Any],
        inner: tuple[Pair, ...],
        path: tuple[str, ...],
    ) -> None:
        """Put the entries of all arrays into the request's order; others come last, in their order."""
        for pair in inner:
            entries, at = values.get(pair.name) or [], (*path, pair.name)
            if by_position(pair) or not entries:
                continue
            index = _Index(self.identities.identifying(at), order.get(pair.name) or ())
            for entry in entries:
                self._sort(entry, index.find(entry)[1] or {}, pair.inner, at)
            values[pair.name] = sorted(entries, key=lambda each: index.find(each)[0])


class _Index:
    """Entries of an array by what identifies them."""

    def __init__(self, fields: Mapping[str, str], entries: Iterable[dict[str, Any]]) -> None:
        self._fields = fields
        self._end = 0
        self._entries: dict[Hashable, tuple[int, dict[str, Any]]] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: dict[str, Any]) -> None:
        """Add an entry after the others; of several entries about the same thing, the first is found."""
        for key in self._keys(entry):
            self._entries.setdefault(key, (self._end, entry))
        self._end += 1

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


def _count(value: Any) -> int:
    """Return the number of structures in decoded values."""
    if isinstance(value, dict):
        return 1 + sum(_count(inner) for inner in value.values() if isinstance(inner, list))
    return sum(map(_count, value)) if isinstance(value, list) else 0
