"""The registry of all contexts."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.bench_broker.contexts import members, moves, rebalances, several, transactions
from barnabas.fuzz.bench_broker.contexts.context import NO_CONTEXT, Context
from barnabas.fuzz.cases.case import Case, shape_of

CONTEXTS: Final[tuple[Context, ...]] = (
    *transactions.CONTEXTS,
    *members.CONTEXTS,
    *moves.CONTEXTS,
    *rebalances.CONTEXTS,
    *several.CONTEXTS,
)

_BY_NAME: Final = {context.name: context for context in CONTEXTS}


def context_of(case: Case) -> Context:
    """Return the context of a case's session, which the origin of its seed names."""
    return context_at(case.recipe.seed.origin)


def context_at(origin: str) -> Context:
    """Return the context that the origin of a seed names."""
    return _BY_NAME.get(shape_of(origin), NO_CONTEXT)
