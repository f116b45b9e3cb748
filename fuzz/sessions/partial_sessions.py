"""Sessions without some of their steps, by which shrinking finds the smallest state that a case needs.

A step that is left out is not sent; the session gets a plausible response without content.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.live_values import Values
from barnabas.fuzz.sessions.session import TOPIC, Request, Session, Stage, Steps, Stuck, Unoffered
from barnabas.specs.layout import Layout, Slot
from barnabas.specs.registry import NAMES, api

WITHOUT: Final = " without "
"""Separates a session's name from the APIs that it leaves out, in a recipe."""

_MOST: Final = 256
"""Steps of a session that are counted."""


def shortened(name: str, left_out: tuple[str, ...]) -> str:
    """Return the name of a session without some APIs.

    >>> shortened("joined", ("SyncGroup", "Metadata"))
    'joined without Metadata, SyncGroup'
    """
    return f"{name}{WITHOUT}{', '.join(sorted(left_out))}" if left_out else name


def parts(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the session's name, and the APIs that are left out.

    >>> parts("joined without Metadata, SyncGroup"), parts("joined")
    (('joined', ('Metadata', 'SyncGroup')), ('joined', ()))
    """
    name, _, left_out = text.partition(WITHOUT)
    return name, tuple(left_out.split(", ")) if left_out else ()


def without(session: Session, left_out: tuple[str, ...]) -> Session:
    """Return the session without the requests of these APIs."""
    name = shortened(session.name, left_out)
    return session._replace(name=name, run=lambda stage: _run(session.run(stage), left_out))


def _run(steps: Steps, left_out: tuple[str, ...]) -> Steps:
    try:
        ask = next(steps)
        while True:
            if NAMES[ask.key] in left_out:
                answer: Mapping[str, Any] = _plausible(ask)
            else:
                answer = yield ask
            ask = steps.send(answer)
    except StopIteration as end:
        values: Values = end.value or {}
        return values


def apis_of(session: Session) -> tuple[str, ...]:
    """Return the APIs that a session uses, each once, in order, as far as plausible responses lead."""
    steps = session.run(Stage({}))
    apis: dict[str, None] = {}
    try:
        ask = next(steps)
        for _ in range(_MOST):
            apis[NAMES[ask.key]] = None
            ask = steps.send(_plausible(ask))
    except (StopIteration, Stuck, Unoffered):
        pass
    return tuple(apis)


def _plausible(ask: Request) -> Mapping[str, Any]:
    """Return a response without errors and with one element in each array.

    The topic is that of all sessions, and a fetch session has an id.
    """
    return _struct(api(ask.key).response.codec(ask.version).layout)


def _struct(layout: Layout) -> dict[str, Any]:
    return {slot.name: _value(slot) for slot in layout.slots}


def _value(slot: Slot) -> Any:
    node = slot.node
    if node.kind == "array" and node.element is not None and node.element.struct is not None:
        return [_struct(node.element.struct)]
    if node.struct is not None and not node.nullable:
        return _struct(node.struct)
    if node.kind == "string" and slot.name in ("name", "topic", "topic_name"):
        return TOPIC
    return 1 if slot.name == "session_id" else slot.fresh_default()
