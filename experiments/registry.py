"""The experiments that installed packages register, as entry points of `barnabas.experiments`."""

from __future__ import annotations

from barnabas.experiments.experiment import Experiment
from barnabas.nearest import did_you_mean
from barnabas.plugins import load, references
from barnabas.trouble import Trouble


def names() -> list[str]:
    """Return the names of all experiments, sorted. No experiment is imported."""
    return list(references("experiments"))


def experiment(name: str) -> Experiment:
    """Return an experiment by its name. Raises LookupError, with the nearest name.

    >>> experiment("nope")
    Traceback (most recent call last):
    LookupError: no experiment 'nope'
    """
    known = references("experiments")
    if name not in known:
        raise LookupError(f"no experiment {name!r}{did_you_mean(name, known)}")
    loaded = load(f"experiment {name}", known[name])
    if not isinstance(loaded, Experiment):
        raise Trouble(f"experiment {name}: {known[name]} is not a barnabas.experiments Experiment")
    return loaded
