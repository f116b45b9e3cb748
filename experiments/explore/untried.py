"""What an exploration has not tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from barnabas.experiments.explore.cuts import Cut
from barnabas.experiments.explore.plan import Planned

WITH_TEMPLATE: Final = (
    "delays",
    "responses in another order",
    "errors for some entries of a request",
)
"""Kinds of faults that only an own template has."""

NEVER: Final = (
    "faults at two exchanges of one run",
    "brokers that restart",
    "faults at exchanges that only occur after another fault",
)
"""Kinds of faults that no exploration has."""


class Untried(NamedTuple):
    """The runs, errors and kinds of faults that an exploration has not tried."""

    runs: Mapping[str, int]
    """Reason -> number of runs that were left out."""
    errors: Mapping[str, tuple[str, ...]]
    """API of the recording -> known errors."""
    kinds: tuple[str, ...]
    """Kinds of faults."""


def untried(
    left_out: Counter[str],
    recorded_apis: Iterable[str],
    runs: Sequence[Planned],
    known: Mapping[str, frozenset[str]],
    *,
    own_template: bool,
) -> Untried:
    """Return what a plan leaves out.

    Args:
        left_out: reason -> number of runs.
        recorded_apis: the APIs of the recording.
        runs: the runs whose faults were done.
        known: API -> errors that brokers report.
        own_template: whether the faults are a user's.
    """
    tried = {(step.api, error) for step, cut in runs for error in _errors(cut)}
    errors = {
        api: tuple(sorted(error for error in known[api] if (api, error) not in tried))
        for api in sorted(set(recorded_apis) & set(known))
    }
    kinds = NEVER if own_template else (*WITH_TEMPLATE, *NEVER)
    return Untried(dict(left_out), {api: names for api, names in errors.items() if names}, kinds)


def _errors(cut: Cut) -> set[str]:
    """Return the names of the errors that a fault gives."""
    faults = cut.do if isinstance(cut.do, list) else [cut.do]
    settings = [fault.get("respond") for fault in faults if isinstance(fault, dict)]
    return {cut.name, *(str(each.get("error")) for each in settings if isinstance(each, dict))}
