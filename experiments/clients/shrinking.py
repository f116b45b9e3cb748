"""The smallest traffic with which a workload fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from barnabas.experiments.clients.draws import Draw, differing, plain
from barnabas.experiments.clients.workloads import Workload

SIZES: Final[dict[str, int]] = {
    "sends": 1,
    "per_send": 1,
    "in_flight": 1,
    "partitions": 1,
    "topics": 1,
    "largest": 100,
    "members": 1,
}
"""Counts that are halved, and the least of each."""


def shrink(drawn: Draw, workload: Workload, fails: Callable[[Draw], bool], most: int) -> Draw:
    """Return the smallest draw for which `fails` is true, as far as it is tried.

    First all features are left out, then halves of them, halves of these, and so on; then counts are halved.

    Args:
        drawn: a draw that fails.
        workload: its workload.
        fails: runs a draw.
        most: how often it may be called.
    """
    shrinker = _Shrinker(drawn, plain(workload), fails, most)
    different = differing(drawn, workload)
    if not shrinker.leave_out([*different, "sends"]):
        shrinker.halve(different)
        shrinker.halve_counts()
    return shrinker.drawn


class _Shrinker:
    """The smallest draw that failed so far, and the number of draws that may be tried."""

    def __init__(self, drawn: Draw, base: Draw, fails: Callable[[Draw], bool], most: int) -> None:
        self.drawn, self._base, self._fails, self._remaining = drawn, base, fails, most

    def smaller(self, **update: Any) -> bool:
        """Try a draw with other features, and keep it if it fails."""
        candidate = self.drawn.model_copy(update=update)
        if self._remaining <= 0 or candidate == self.drawn:
            return False
        self._remaining -= 1
        if not self._fails(candidate):
            return False
        self.drawn = candidate
        return True

    def leave_out(self, names: Sequence[str]) -> bool:
        """Leave out features; return whether the draw still fails."""
        return self.smaller(**{name: getattr(self._base, name) for name in names})

    def halve(self, names: Sequence[str]) -> None:
        """Leave out as many features of each half of these as possible."""
        if len(names) < 2:
            return
        for part in (names[: len(names) // 2], names[len(names) // 2 :]):
            if not self.leave_out(part):
                self.halve(part)

    def halve_counts(self) -> None:
        """Halve counts as often as possible."""
        for name, least in SIZES.items():
            while getattr(self.drawn, name) > least and self.smaller(
                **{name: max(getattr(self.drawn, name) // 2, least)}
            ):
                pass
