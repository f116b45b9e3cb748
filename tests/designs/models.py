"""Model tests of peers: a search of its own for each ending of a run.

Hypothesis draws in clusters, each made of one example before it: of 80 examples with one of eight
endings, some endings are seen twenty times and others never. So the ending is not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

Machine = Callable[[str], RuleBasedStateMachine]
"""Makes a machine whose runs end in this way."""

SETTINGS: Final = settings(max_examples=15, stateful_step_count=25)


def explore(machine: Machine, ending: str, how: settings = SETTINGS) -> None:
    """Look for a run with this ending that breaks a promise. Raises what it raised."""
    run_state_machine_as_test(lambda: machine(ending), settings=how)  # type: ignore[arg-type]  # a function will do, it says
