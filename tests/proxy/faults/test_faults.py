from __future__ import annotations

import importlib
from dataclasses import replace
from typing import get_args

import pytest

from barnabas.proxy.effects import Effect, Schedule
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.matching.seeded_random import seeded_roll
from barnabas.proxy.rules.wording import describe
from tests.proxy.faults.examples import EXAMPLES, TESTED
from tests.proxy.faults.given import message

HEARTBEAT = message(group_id="g")


def plain(effect: Effect) -> object:
    """An effect as a value."""
    return (effect.leave(0), effect.what) if isinstance(effect, Schedule) else effect


def test_every_fault_has_a_test_file() -> None:
    lacking = [f"tests/proxy/faults/test_{name}.py" for name, *_ in FAULTS if name not in EXAMPLES]
    assert not lacking, "with EXAMPLES in it, like those beside it"


@pytest.mark.parametrize("fault", TESTED, ids=lambda fault: str(fault[0]))
def test_every_fault_keeps_to_the_idiom(fault: Fault) -> None:
    name, model, act, *states = fault
    module = importlib.import_module(f"barnabas.proxy.faults.{name}")
    assert getattr(module, name) is act
    assert model.model_config["frozen"]
    assert model.model_config["extra"] == "forbid"
    assert model.__doc__
    assert all(setting.description for setting in model.model_fields.values())
    config = model.model_validate(EXAMPLES[name].settings)
    subject = EXAMPLES[name].subject or HEARTBEAT
    before = replace(subject)
    found = [
        act(
            config,
            subject,
            seeded_roll(7, name, (n % 20,)),
            *(state.new() for state in states),
        )
        for n in range(40)
    ]
    assert subject == before  # it says what is to be done, and does nothing
    assert (
        len({tuple(map(plain, effects)) for effects in found}) <= 20
    )  # the same chance and effects
    for effects in found:
        assert effects
        for effect in effects:
            assert isinstance(effect, get_args(Effect))
            assert describe(effect)


def test_every_fault_has_its_name_once() -> None:
    names = [name for name, *_ in FAULTS]
    assert len(set(names)) == len(names)
