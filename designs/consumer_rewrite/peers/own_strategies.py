"""partition.assignment.strategies: a user's own, as `name:package.module.Class`, separated by commas."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from barnabas.designs.consumer_rewrite.peers.strategies import STRATEGIES, Strategy


def with_own(text: object) -> Mapping[str, Strategy]:
    """The strategies that a broker has by default, and those of a list.

    A name that is there already gets the list's. Raises ValueError.
    """
    own: dict[str, Strategy] = {}
    for entry in str(text).split(","):
        name, colon, path = (part.strip() for part in entry.partition(":"))
        if not (name and colon and path):
            raise ValueError(f"{entry.strip()!r} is no name:package.module.Class")
        if name in own:
            raise ValueError(f"{name} is there twice")
        own[name] = strategy_at(path)
    return {**STRATEGIES, **own}


def strategy_at(path: str) -> Strategy:
    """What stands at a path of modules: a function, or a class whose instances are called as one.

    Raises ValueError if nothing does, or if it can't be called as a strategy is.
    """
    module, _, attribute = path.rpartition(".")
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
        made: Any = found() if inspect.isclass(found) else found
    except Exception as problem:  # noqa: BLE001 - whatever the user's module does
        text = " ".join(f"{type(problem).__name__}: {problem}".split())
        raise ValueError(f"can't have {path}: {text}") from None
    try:
        inspect.signature(made).bind((), {})
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{path} is no strategy: {problem}") from None
    strategy: Strategy = made
    return strategy
