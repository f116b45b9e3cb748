"""What was seen of one case. Targets make these; oracles judge them, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from barnabas.fuzz.cases.case import Case

TOGETHER: Final = "together"
"""The fact of a case that is blamed for what only several showed: their numbers. It is the last of them."""

UNDER_WAY: Final = "under_way"
"""The fact of such a case where nobody could look further: all of them, in words."""

WAITED: Final = "waited_ms"
"""The fact of a case an answer to which was waited for in vain: for how many ms."""

SET_ASIDE: Final = "set_aside"
"""The fact of a case that was not sent: others of its kind had ended the process too often, or the client
did not ask for it."""

EARLIER: Final = "earlier"
"""The fact of a case that did it only behind others: their recipes in order, as JSON."""

SPINS: Final = "spins"
"""The fact of a session that took processor time until it was ended."""

COMPUTES: Final = "computes"
"""The fact of a case on which a thread computes for long: for how many seconds at least, and behind that the
innermost frames of Kafka's own where it does, as far as they are known."""

STACK: Final = "stack_of_kind"
"""The fact of a case whose error left no stack: the frames that one of its kind left in a fresh process."""

AS_VALID: Final = "as_valid"
"""The fact of a case that shows what its seed shows as it is."""

DIFFERS: Final = "differs"
"""The fact of a case with which two targets did not do the same: in words, and what tells it from others."""

REACHED: Final = "reached"
"""The fact of a case that reached lines which nothing had reached before: a line of text for each place."""

REPLY_LIMIT: Final = 1 << 20
"""Bytes of a reply that are kept; the rest is counted and let go."""

KEPT_LIMIT: Final = 4 << 20
"""Bytes of all replies of one case that are kept."""

Ending = Literal["open", "closed", "reset", "refused"]
"""Of the connection, after the case: still there, closed by the other side, reset, or never made."""


@dataclass(frozen=True, slots=True)
class Death:
    """A process that ended: its exit code (negative: the signal; None: it is somebody else's, and its address
    refuses connections), and the end of what it printed."""

    exit_code: int | None
    last_words: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A well-formed request on a connection of its own, after the case."""

    answered: bool
    took_ms: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one target did with one case. Times in ms, memory in bytes.

    replies: frames without sizes, as they came. probe: None where this case had none of its own (probes
    are batched: a failed one is bisected, so that the case to blame has it). log: lines that a log of
    the target gained meanwhile, whole entries with their stack traces. raised: a decoder's or a client's
    exception, as text `class: message` with the innermost frames behind it. rss, heap: (before, highest),
    heap of a JVM that publishes it.
    facts: what a target or an oracle's follow-up questions found beside, by name; JSON values only.
    """

    case: Case
    sent: tuple[bytes, ...] = ()
    replies: tuple[bytes, ...] = ()
    ending: Ending = "open"
    took_ms: float = 0.0
    probe: Probe | None = None
    death: Death | None = None
    log: tuple[str, ...] = ()
    raised: str = ""
    rss: tuple[int, int] | None = None
    facts: tuple[tuple[str, object], ...] = ()
    heap: tuple[int, int] | None = None

    @property
    def shared(self) -> bool:
        """Whether it is blamed for what only several cases showed: it may be innocent."""
        return any(name == TOGETHER for name, _ in self.facts)

    @property
    def overdue(self) -> bool:
        """Whether an answer to it was waited for in vain."""
        return any(name == WAITED for name, _ in self.facts)


def is_set_aside(observation: Observation) -> bool:
    """Whether its case was not sent."""
    return bool(dict(observation.facts).get(SET_ASIDE))
