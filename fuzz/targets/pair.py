"""Two brokers as one target: each case goes to both, and where they disagree stands in the facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Self

from captures.errors import error_codes
from fuzz.case import Case, Role
from fuzz.observation import Observation
from fuzz.targets.target import Target
from fuzz.targets.wire import question
from specs.contents import NAMES, api
from specs.error_codes import error_name
from specs.frames import response_body
from specs.malformed import Malformed


class PairTarget:
    """The observation is the first's; a fact `differs` has what each did, where that is not the same."""

    role: Role = "broker"

    def __init__(self, first: Target, second: Target) -> None:
        self.name = f"{first.name} beside {second.name}"
        self._pair = first, second
        self._running = ExitStack()

    @property
    def at_once(self) -> int:
        """As many as both like."""
        return min(target.at_once for target in self._pair)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for target in self._pair:
                stack.enter_context(target)
            self._running = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._running.close()

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases on both, in order."""
        first, second = (target.run(cases) for target in self._pair)
        for mine, others in zip(first, second, strict=True):
            both = outcome(mine), outcome(others)
            differs = () if both[0] == both[1] else (("differs", list(both)),)
            yield replace(mine, facts=(*mine.facts, *differs))


def outcome(observation: Observation) -> str:
    """What a broker did with a case, in words that another one would use for the same.

    A connection that is reset was closed, and nothing more: which of the two is chance.
    """
    if observation.death is not None:
        return "died"
    asked = [one for one in question(observation.sent).requests if one.answered]
    said = []
    for one, reply in zip(asked, observation.replies, strict=False):
        known = (
            one.key in NAMES and api(one.key).versions[0] <= one.version <= api(one.key).versions[1]
        )
        if not known:
            said.append("answered")
            continue
        try:
            codes = error_codes(
                one.key, one.version, reply[response_body(reply, one.key, one.version) :]
            )
        except Malformed:
            said.append("a response that can't be read")
            continue
        said.append(" ".join(error_name(code) for code in sorted(codes - {0})) or "no error")
    ended = "" if observation.ending == "open" else "closed"
    return ", ".join(filter(None, (*said, ended))) or "no answer"
