"""An observation: what a target did with one case. Targets make observations, oracles judge them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from barnabas.fuzz.cases.case import Case

TOGETHER: Final = "together"
"""The fact of the last of several cases that show a problem only together: the numbers of all."""

UNDER_WAY: Final = "under_way"
"""The fact of a case that shares the blame, where no search was possible: descriptions of all cases in
flight."""

REUSED: Final = "reused"
"""The fact of a case whose connection had other cases before it."""

WAITED: Final = "waited_ms"
"""The fact of a case whose response did not come in time: the milliseconds that it was waited for."""

SET_ASIDE: Final = "set_aside"
"""The fact of a case that was not judged: the reason, one of the following."""

ENDED_OFTEN: Final = "similar cases had ended the target too often"
ENDED_DURING: Final = "the target ended before the case was settled, and can't be restarted"
NOT_REQUESTED: Final = "the client did not send the request that the case answers"
NOT_COMPARABLE: Final = "the two targets' results can't be compared"

HUNG_AMONG_OTHERS: Final = "the client hung among other sessions, and not when the case ran alone"

QUIET: Final = "quiet"
"""The fact of a hang that occurred again after the campaign's cases, when no other session ran."""

EARLIER: Final = "earlier"
"""The fact of a case that shows a problem only after others: their recipes in order, as JSON."""

SPINS: Final = "spins"
"""The fact of a session that used processor time until it was ended."""

COMPUTES: Final = "computes"
"""The fact of a case on which a thread computes for long: the seconds at least, then the innermost frames of
Kafka's code, where known."""

STACK: Final = "stack_of_kind"
"""The fact of a case whose error left no stack: the frames that a similar case left in a fresh process."""

AS_VALID: Final = "as_valid"
"""The fact of a case that shows the same features as its seed without mutations."""

DIFFERS: Final = "differs"
"""The fact of a case on which two targets differ: a description, and what tells the difference from
others."""

REACHED: Final = "reached"
"""The fact of a case that reached new lines: a line of text for each."""

REPLY_LIMIT: Final = 1 << 20
"""Bytes of a response that are kept; the rest is counted and dropped."""

KEPT_LIMIT: Final = 4 << 20
"""Bytes of all responses of one case that are kept."""

Ending = Literal["open", "closed", "reset", "refused"]
"""The connection after the case: open, closed by the other side, reset, or never made."""


@dataclass(frozen=True, slots=True)
class Death:
    """The exit of a target's process.

    Attributes:
        exit_code: The exit code; negative for a signal; None for a broker elsewhere whose address refuses
            connections.
        last_words: The end of what the process printed.
    """

    exit_code: int | None
    last_words: str


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of a well-formed request on a separate connection, after a case."""

    answered: bool
    took_ms: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """The reaction of one target to one case. Times are in milliseconds, memory in bytes.

    Attributes:
        case: The case.
        sent: The chunks that were sent, with live fields filled in.
        replies: Responses without their sizes, in order.
        ending: The state of the connection after the case.
        took_ms: The time from the first write to the end.
        probe: The probe after this case; None if the probe was for a batch (a failed probe is searched for
            the culprit, which then has it).
        death: The exit of the process, if this case caused it.
        log: Log entries, with their stack traces, that the case caused.
        raised: A decoder's or client's exception as `class: message`, followed by the innermost frames.
        rss: Resident memory before, and its peak.
        facts: Further observations by name; JSON values only.
        heap: The heap of a JVM before, and its peak.
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
        """Return whether only several cases together showed the problem: this one may be innocent."""
        return any(name == TOGETHER for name, _ in self.facts)

    @property
    def overdue(self) -> bool:
        """Return whether a response did not come in time."""
        return any(name == WAITED for name, _ in self.facts)


def is_set_aside(observation: Observation) -> bool:
    """Return whether the case was not sent."""
    return bool(dict(observation.facts).get(SET_ASIDE))
