"""Smaller recipes: fewer changes, smaller draws, a shorter session or none, a lower version of the API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.sessions.partial_sessions import apis_of, parts, shortened
from barnabas.fuzz.sessions.registry import named
from barnabas.fuzz.shrinking.edits import closed, opened
from barnabas.specs.frames import Frame
from barnabas.specs.headers import header_codec
from barnabas.specs.registry import api

SMALL: Final = 8
"""Draws below this are tried. The simplest one is unknown: the first that fires is taken."""


def without_session(recipe: Recipe) -> Iterator[Recipe]:
    """Drop the session, so that the message comes first on its connection."""
    if recipe.session:
        # the case maker also reads the session from the seed's origin
        seed = replace(recipe.seed, origin=f"without {recipe.seed.origin}")
        yield recipe._replace(seed=seed, session="")


def fewer_session_steps(recipe: Recipe) -> Iterator[Recipe]:
    """Drop one more API of the session, the last first: earlier ones lead to it."""
    name, left_out = parts(recipe.session)
    session = named(name)
    if session is None:
        return
    for api_name in reversed(apis_of(session)):
        if api_name not in left_out:
            shorter = shortened(name, (*left_out, api_name))
            _, _, rest = recipe.seed.origin.removeprefix("session:").partition(":")
            seed = replace(recipe.seed, origin=f"session:{shorter}:{rest}")
            yield recipe._replace(seed=seed, session=shorter)


def fewer_changes(recipe: Recipe) -> Iterator[Recipe]:
    """Drop one of the changes."""
    for index in range(len(recipe.changes)):
        remaining = recipe.changes[:index] + recipe.changes[index + 1 :]
        yield recipe._replace(changes=remaining)


def smaller_draws(recipe: Recipe) -> Iterator[Recipe]:
    """Make the same change with a small number of draws."""
    for index, change in enumerate(recipe.changes):
        if change.draws >= SMALL:
            for draws in range(SMALL):
                changes = list(recipe.changes)
                changes[index] = change._replace(draws=draws, detail="")
                yield recipe._replace(changes=tuple(changes))


def lower_versions(recipe: Recipe) -> Iterator[Recipe]:
    """Send the message in each lower version."""
    seed = recipe.seed
    frame = opened(seed)
    if frame is None:
        return
    message = api(seed.key).message(seed.direction)
    for version in range(api(seed.key).versions[0], seed.version):
        try:
            body = message.layout(version).fitted(frame.body)
        except LookupError:  # no message in this direction has this version
            continue
        lower = closed(
            seed, Frame(seed.direction, seed.key, version, _header(frame, version), body)
        )
        if lower is not None:
            yield recipe._replace(seed=lower)


def _header(frame: Frame, version: int) -> dict[str, Any]:
    header: dict[str, Any] = dict(frame.header)
    if frame.direction == "request":
        header["request_api_version"] = version
    return header_codec(frame.direction, frame.key, version).layout.fitted(header)
