"""What holds for every fault, and what the examples of each say of its settings."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import pytest

from barnabas.proxy.effects import Effect, Schedule
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.seeded_random import seeded_roll
from barnabas.proxy.scenario.file import ScenarioError, loads
from barnabas.specs import key_of
from barnabas.specs.frames import Direction
from tests.proxy.faults.examples import EXAMPLES, TESTED
from tests.proxy.faults.given import configured, effect_of, message, rule_text

HEARTBEAT = message(group_id="g")


def plain(effect: Effect) -> object:
    """Return an effect as a value."""
    return (effect.leave(0), effect.what) if isinstance(effect, Schedule) else effect


def test_every_fault_has_its_name_once_and_a_test_file() -> None:
    names = [name for name, *_ in FAULTS]
    assert len(set(names)) == len(names)
    lacking = [f"tests/proxy/faults/test_{name}.py" for name in names if name not in EXAMPLES]
    assert not lacking, "with EXAMPLES in it, like those beside it"


@pytest.mark.parametrize("fault", TESTED, ids=lambda fault: str(fault[0]))
def test_every_fault_keeps_to_the_idiom(fault: Fault) -> None:
    name, model, act, *states = fault
    assert getattr(importlib.import_module(f"barnabas.proxy.faults.{name}"), name) is act
    assert model.model_config["frozen"]
    assert model.model_config["extra"] == "forbid"
    assert model.__doc__
    assert all(setting.description for setting in model.model_fields.values())
    config = model.model_validate(EXAMPLES[name].settings)
    subject = EXAMPLES[name].subject or HEARTBEAT
    before = replace(subject)
    rolls = [seeded_roll(7, name, (n % 20,)) for n in range(40)]
    found = [act(config, subject, roll, *(state.new() for state in states)) for roll in rolls]
    assert subject == before  # it says what is to be done, and does nothing
    assert (
        len({tuple(map(plain, effects)) for effects in found}) <= 20
    )  # the same chance and effects
    for effects in found:
        assert effects
        for effect in effects:
            assert isinstance(effect, get_args(Effect))
            assert str(effect)


# what the examples say


def of_all(kind: str) -> pytest.MarkDecorator:
    """Parametrize a test with what the examples of all faults have of a kind, behind the fault's name."""
    table = [(name, *row) for name, found in EXAMPLES.items() for row in getattr(found, kind)]
    return pytest.mark.parametrize("row", table, ids=lambda row: f"{row[0]}-{str(row[1])[:50]}")


@of_all("refused")
def test_settings_that_can_not_be_are_refused_at_load(row: tuple[str, Any, str]) -> None:
    name, settings, why = row
    api, direction = EXAMPLES[name].about
    match = f"{{api: {api}{direction and ', direction: ' + direction}}}"
    with pytest.raises(ScenarioError) as caught:
        loads(rule_text(name, settings, match))
    assert why in str(caught.value)


@of_all("unable")
def test_what_can_not_be_done_to_a_message_is_said(row: tuple[str, Any, Message, str]) -> None:
    name, settings, subject, why = row
    before = replace(subject)
    with pytest.raises(Unable) as caught:
        effect_of(name, settings, subject)
    assert why in str(caught.value)
    assert subject == before


@of_all("says")
def test_what_settings_say_of_themselves(row: tuple[str, Any, str, Any]) -> None:
    name, settings, what, expected = row
    found = getattr(configured(name, settings), what)
    assert (tuple(found) if isinstance(found, Iterator) else found) == expected


@of_all("applies")
def test_what_it_can_be_done_to(row: tuple[str, Any, tuple[str, Direction, int], bool]) -> None:
    name, settings, (api, direction, version), expected = row
    assert configured(name, settings).applies_to(key_of(api), direction, version) is expected
