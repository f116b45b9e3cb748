"""What an analysis is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Analysis(NamedTuple):
    """A question to the table `exchanges`, and what answers it."""

    run: Callable[[DataFrame], DataFrame]
    """From the table `exchanges`, with `body`, to a table of `columns`; it has no order."""
    columns: tuple[Column, ...]
    wide: bool = False
    """Whether it asks for columns of `barnabas.pipeline.analyses.given.WIDE`, without which it is given the
    table else."""
    bodies: tuple[str, ...] = ()
    """APIs whose bodies it reads."""
    at_once: Callable[[DataFrame], DataFrame] | None = None
    """Says the same sooner where one task is enough for all of the table."""

    @property
    def name(self) -> str:
        """The name of the function that answers it."""
        return self.run.__name__
