"""Steps that several sessions take."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Generator, Mapping
from typing import Any

from barnabas.fuzz.sessions.bodies import body
from barnabas.fuzz.sessions.session import TOPIC, Ask, Stage, Stuck
from barnabas.specs import keys
from barnabas.specs.error_codes import error_name
from barnabas.specs.registry import NAMES

Step = Generator[Ask, Mapping[str, Any], Mapping[str, Any]]


def ask(
    stage: Stage, key: int, most: int = 32767, *, fine: Collection[int] = (0,), **changes: Any
) -> Step:
    """A valid request in the newest version; its answer, whose own error code must be fine.

    Raises Stuck.
    """
    version = stage.version(key, most)
    found = body(key, version, **changes)
    assert found is not None  # noqa: S101
    answer = yield Ask(key, version, found)
    code = answer.get("error_code", 0)
    if code not in fine:
        raise Stuck(f"{NAMES[key]} v{version} was answered with {error_name(code)}")
    return answer


def topic(stage: Stage) -> Generator[Ask, Mapping[str, Any], dict[str, int | str | bytes]]:
    """Live values about the topic: its id, where the broker has ids. Raises Stuck if it is not there."""
    answer = yield from ask(stage, keys.METADATA)
    for one in answer["topics"]:
        if one["name"] == TOPIC and not one["error_code"]:
            topic_id = one.get("topic_id")
            return {"topic_id": topic_id.bytes} if topic_id else {}
    raise Stuck(f"there is no topic {TOPIC}")


def topic_id(live: Mapping[str, int | str | bytes]) -> uuid.UUID:
    """The live topic id as a body has it; no id, where there are none."""
    found = live.get("topic_id")
    return uuid.UUID(bytes=found) if isinstance(found, bytes) else uuid.UUID(int=0)
