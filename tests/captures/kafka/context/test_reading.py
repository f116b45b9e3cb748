"""What is learnt of bodies that are decoded, and of those of which only some fields are read."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.context.facts import facts
from barnabas.captures.kafka.exchange import with_bodies
from barnabas.captures.kafka.phrases.learnt import learnt
from tests.places import SAMPLES


def said(name: str, *, whole: bool) -> list[tuple[dict[str, Any], str]]:
    """What the context adds to each exchange of a sample."""
    capture = open_capture(SAMPLES / name)
    exchanges = capture.exchanges(inferred=True)
    context = capture.context
    return [
        (facts(one, context), learnt(one, context))
        for one in capture.learn(map(with_bodies, exchanges) if whole else exchanges)
    ]


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.pcap*")))
def test_it_is_the_same(name: str) -> None:
    assert said(name, whole=True) == said(name, whole=False)


def test_something_is_said() -> None:
    assert any(found for found, _ in said("kip-848.pcapng", whole=True))
