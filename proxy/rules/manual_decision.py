"""A person's decision about one message, in the form of a rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from barnabas.proxy.effects import FINAL, Become, Effect
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.seeded_random import seeded_roll
from barnabas.proxy.rules.rules import Decision
from barnabas.proxy.scenario.model import RuleConfig

NAMES: Final = ("edit", "replace", "rewrite", "respond", "drop", "close", "reset")

DECISIONS: Final[tuple[Fault, ...]] = tuple(fault for fault in FAULTS if fault[0] in NAMES)
"""The faults that a person can apply to a waiting message; none of them draws a random number."""

AS_IT_IS: Final = "let go"


def manual_decision(rule_config: RuleConfig | None, rule: str, message: Message) -> Decision:
    """Return the decision about a message at a rule's breakpoint; the message itself stays unchanged.

    Args:
        rule_config: The rule to apply; None lets the message leave unchanged.
        rule: The name of the breakpoint's rule.
        message: The message.

    Raises:
        Unable: A fault cannot be applied to the message.
    """
    trial = replace(message)
    effects: list[Effect] = []
    for name, config, act, *_ in () if rule_config is None else rule_config.do:
        applies = getattr(config, "applies_to", None)
        if applies is not None and not applies(message.key, message.direction, message.version):
            raise Unable(f"{name} does not apply to this {message.direction}")
        for effect in act(config, trial, seeded_roll(0, rule, ())):
            effects.append(effect)
            if isinstance(effect, Become):
                trial.become(effect.body, effect.head, effect.what)
        if any(isinstance(effect, FINAL) for effect in effects):
            break
    return Decision(rule, tuple(effects), tuple(map(str, effects)) or (AS_IT_IS,))
