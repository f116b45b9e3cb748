"""An idempotent producer that has its id: the next batch begins its first sequence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import produce
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.fuzz.sessions.steps import ask, topic
from barnabas.specs import keys


def run(stage: Stage) -> Steps:
    """Gets a producer id."""
    live = yield from topic(stage)
    given = yield from ask(
        stage, keys.INIT_PRODUCER_ID, 4, transactional_id=None, producer_id=-1, producer_epoch=-1
    )
    return {
        **live,
        "producer_id": given["producer_id"],
        "producer_epoch": given["producer_epoch"],
        "base_sequence": 0,
    }


def _body(key: int, version: int) -> Mapping[str, Any] | None:
    return produce(version, idempotent=version >= 3)


IDEMPOTENT: Final = Session(
    "idempotent",
    "an idempotent producer with its id",
    (keys.INIT_PRODUCER_ID,),
    frozenset((keys.PRODUCE,)),
    1,
    run,
    _body,
)
