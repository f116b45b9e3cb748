from __future__ import annotations

import importlib
from typing import get_args

import pytest

from proxy.dice import Dice
from proxy.effects import Effect
from proxy.faults import FAULTS, Fault
from proxy.wording import describe

SETTINGS = {
    "delay": {"by": "1s", "jitter": "900ms"},
    "hold": {"until": {"api": "JoinGroup"}},
    "reorder": {"shuffle": 9},
    "drop": {},
    "close": {},
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault[0]))
def test_every_fault_keeps_to_the_idiom(fault: Fault) -> None:
    name, model, act = fault
    module = importlib.import_module(f"proxy.faults.{name}")
    assert getattr(module, name) is act
    assert model.model_config["frozen"]
    assert model.model_config["extra"] == "forbid"
    assert model.__doc__
    assert all(setting.description for setting in model.model_fields.values())
    config = model.model_validate(SETTINGS[name])
    effects = {act(config, Dice(7).roll(name, (n % 20,))) for n in range(40)}
    assert len(effects) <= 20  # the same chance, the same effect
    for effect in effects:
        assert isinstance(effect, get_args(Effect))
        assert describe(effect)


def test_every_fault_has_its_name_once() -> None:
    names = [name for name, _, _ in FAULTS]
    assert len(set(names)) == len(names) == len(SETTINGS)
