"""A user's strategies in partition.assignment.strategies: `name:package.module.Class`, with commas."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from barnabas.designs.consumer_rewrite.peers.strategies import STRATEGIES, Strategy


def with_listed(text: object) -> Mapping[str, Strategy]:
    """Return a broker's default strategies, extended by those of a list.

    The list's strategies replace those of the same name. Raises ValueError.
    """
    listed: dict[str, Strategy] = {}
    for entry in str(text).split(","):
        name, colon, path = (part.strip() for part in entry.partition(":"))
        if not (name and colon and path):
            raise ValueError(f"{entry.strip()!r} is not name:package.module.Class")
        if name in listed:
            raise ValueError(f"{name} is there twice")
        listed[name] = strategy_at(path)
    return {**STRATEGIES, **listed}


def strategy_at(path: str) -> Strategy:
    """Return the strategy at a path of modules: a function, or an instance of a class.

    Raises ValueError if there is nothing, or if it is not callable as a strategy.
    """
    module, _, attribute = path.rpartition(".")
    try:
        loaded: Any = getattr(importlib.import_module(module), attribute)
        made: Any = loaded() if inspect.isclass(loaded) else loaded
    except Exception as problem:  # noqa: BLE001 - whatever the user's module does
        text = " ".join(f"{type(problem).__name__}: {problem}".split())
        raise ValueError(f"can't have {path}: {text}") from None
    try:
        inspect.signature(made).bind((), {})
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{path} is not a strategy: {problem}") from None
    strategy: Strategy = made
    return strategy
