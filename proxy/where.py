"""Whether a rule's condition can ever hold on the messages that it is about."""

from __future__ import annotations

from barnabas.captures.expression import Expression
from barnabas.proxy.matching import Match
from barnabas.proxy.where_fields import check_fields


def check(condition: Expression, match: Match) -> list[str]:
    """What is wrong with a condition on these messages: fields that no version of any of them has,
    functions that JMESPath does not have."""
    try:
        return check_fields(condition.text, condition.compiled.parsed, match)
    except RecursionError:  # a || a || ... is parsed in a loop and walked in depth
        return ["is nested too deeply"]
