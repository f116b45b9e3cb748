"""What comes of faults, step by step: the plays of their test files."""

from __future__ import annotations

import pytest

from tests.proxy.faults.examples import EXAMPLES
from tests.proxy.faults.given import Play
from tests.proxy.frames import Chunks, slicings
from tests.proxy.playbook import Stage, one_rule
from tests.proxy.scripts import play

PLAYS = [(name, example) for name, found in EXAMPLES.items() for example in found.plays]


@slicings
@pytest.mark.parametrize(
    ("fault", "example"), PLAYS, ids=[f"{name}-{example.shows}" for name, example in PLAYS]
)
def test_what_comes_of_it(fault: str, example: Play, chunks: Chunks) -> None:
    do = example.do if example.do.startswith("[") else f"{{{fault}: {example.do}}}"
    stage = Stage(one_rule(do, example.match, f"when: {example.when}"))
    play(stage, example.script, chunks)
