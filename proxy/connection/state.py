"""What the parts of a connection share: who talks to whom, what waits, and the actions so far."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from barnabas.captures.kafka.pairing.exchange_builder import build_exchange
from barnabas.captures.kafka.pairing.in_flight import Pairing, Pending
from barnabas.captures.kafka.sasl import Sasl
from barnabas.captures.summary.api_stats import Tally
from barnabas.proxy.connection.actions import Abort, Action, Cut, Done, Say, Send
from barnabas.proxy.connection.ingress import Inbound
from barnabas.proxy.connection.send_queue import Item, Outlet
from barnabas.proxy.connection.shared_state import Crossing
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import Find
from barnabas.proxy.effects import Pace
from barnabas.proxy.fastpath.plan import Plan
from barnabas.proxy.fastpath.prefix_cache import Familiar
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.candidates import Candidates
from barnabas.proxy.rules.rules import SAID, Counts, Decision, Rule
from barnabas.specs.addresses import Resolve
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import Malformed

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds a connection's memory, in bytes (and messages)."""

    frame: int = 100 * MIB
    """The largest frame; Kafka's own default for socket.request.max.bytes is the same."""
    queued: int = 16 * MIB
    """Frames that wait, in each direction, with what they cost beside their bytes, before reading
    pauses."""
    waiting: int = 10_000
    """Requests without a response before reading pauses."""
    copy: int = 4 * MIB
    """The largest frame of which log and control get a copy; of larger ones they show sizes."""


class State:
    """One connection's state, but for the bytes under way."""

    def __init__(
        self,
        number: int,
        *,
        client: str,
        broker: int | None,
        plan: Plan,
        crossing: Crossing,
        tally: Tally,
        totals: Totals,
        resolve: Resolve,
        find: Find,
        observed: bool,
        rehearses: bool,
        limits: Limits,
    ) -> None:
        self.number = number
        self.client = client
        self.broker = broker
        self.plan = plan
        self.crossing = crossing
        self.tally = tally
        self.totals = totals
        self.resolve = resolve
        self.find = find
        self.observed = observed
        self.rehearses = rehearses
        """Whether this has passed already, and no client hears of it: see `barnabas.proxy.rehearsal`."""
        self.limits = limits
        self.client_id: str | None = None
        self.ordinal = 0
        """Of the connection among that client's to that broker."""
        self.counts = Counts()
        self.familiar: dict[int, Familiar] = {}
        """Requests that pass unread, by `plan.code`; filled as they are met."""
        self.quiet: dict[int, range] = {}
        """The sizes of responses that pass unread, by `plan.code`; filled as they are met."""
        self.candidates = Candidates(plan.rules, broker, 0)
        self.sasl = Sasl()
        """What is known of the client's authentication."""
        self.pairing = Pairing(limit=1 << 31)  # reading pauses long before
        self.kept = 0
        """Bytes of bodies of requests that wait for their responses, and of the proxy's own answers."""
        self.inbound: dict[Direction, Inbound] = {"request": Inbound(), "response": Inbound()}
        self.outlet: dict[Direction, Outlet] = {"request": Outlet(), "response": Outlet()}
        self.over = False
        self.silent = False
        """No byte passes any longer, and nobody is told."""
        self.stalled: dict[Direction, int] = {}
        """Until when nothing is read from the sender of a direction."""
        self.apart: dict[Direction, int] = {}
        """Until when no byte may pass in a direction: clients and brokers are isolated."""
        self.until: int | None = None
        """When a silent connection is closed."""
        self.actions: list[Action] = []
        self._open: tuple[int, int, int] | None = None
        crossing.states.add(self)

    def adopt(self, plan: Plan, kept: Collection[str]) -> None:
        """Go on under other rules; `kept` names those that are still the same.

        What the others held back is let go, in order. What a rule has lost stays lost: a stream
        can't go on behind a gap.
        """
        self.plan = plan
        self.look_again()
        self.crossing.forget(self)  # and wait again for those that stay aside
        self.crossing.states.add(self)
        for direction, outlet in self.outlet.items():
            _let_go(outlet, direction, kept)
            for held in outlet.aside:
                if held.aside.until is not None:
                    self.crossing.wait(self, held)

    def look_again(self) -> None:
        """Forget which messages pass unread: the rules or the client are others."""
        self.familiar = {}
        self.quiet = {}
        self.candidates = Candidates(self.plan.rules, self.broker, self.ordinal)

    @property
    def name(self) -> str:
        """How lines for a person name the connection."""
        client = f"{self.client_id}@{self.client}" if self.client_id else self.client
        return f"connection {self.number} ({client})"

    def message(
        self,
        direction: Direction,
        pending: Pending,
        size: int,
        body: bytes | None,
        *,
        head: bytes = b"",
        acks: int | None = None,
        arrived: int = 0,
    ) -> Message:
        """A request, or the response to it, as rules see it."""
        return Message(
            direction=direction,
            key=pending.key,
            version=pending.version,
            client_id=pending.client_id,
            broker=self.broker,
            connection=self.number,
            ordinal=self.ordinal,
            group=pending.group,
            size=size,
            body=body,
            request=pending.body if direction == "response" else None,
            head=head,
            correlation_id=pending.correlation_id,
            acks=acks,
            arrived=arrived,
            listener=self.find,
            topics=self.crossing.topics,
            quotes=self.plan.quotes,
        )

    def decide(self, candidates: Collection[Rule], message: Message) -> list[Decision]:
        """Put a message to rules; what could not be done to it is said, the first times."""
        decisions = self.plan.rules.decide(candidates, message, self.counts) if candidates else []
        if message.wanted:
            self.crossing.questions.want(message.wanted, message.arrived)
        for rule in candidates:
            if why := rule.news():
                self.say(f"rule {rule.name!r} could not be decided: {why}; no match, and counted")
        for decision in decisions:
            if decision.trouble and self.plan.rules.rule(decision.rule).unable <= SAID:
                what = "; ".join(decision.trouble)
                self.say(f"rule {decision.rule!r}: {what}; it goes on without that")
        message.forget()
        return decisions

    def hide(self, direction: Direction, key: int, version: int) -> bool:
        """Whether a capture must not have the present frame as it is: then it is to be whole.

        `key` may be one of those in `barnabas.captures.writing.masking` that stand for none.
        """
        hides = self.plan.hides
        if hides is None or not hides(direction, key):
            return False
        self.inbound[direction].hidden = (key, version)
        return True

    # actions

    def begin(self) -> None:
        """Before each call from outside."""
        self.actions = []
        self._open = None

    def send(self, direction: Direction, data: bytes) -> None:
        """Send bytes that are not a piece of the present chunk."""
        self._open = None
        self.actions.append(Send(direction, data))

    def send_piece(self, direction: Direction, data: memoryview, start: int, end: int) -> None:
        """Send a piece of the present chunk; pieces that touch become one action."""
        if self._open is not None and self._open[2] == start:
            index, first, _ = self._open
            self.actions[index] = Send(direction, data[first:end])
            self._open = (index, first, end)
        else:
            self._open = (len(self.actions), start, end)
            self.actions.append(Send(direction, data[start:end]))

    def cut(self, direction: Direction, at: int, comment: dict[str, Any]) -> None:
        """A comment for the capture, behind this many bytes of the present chunk."""
        self.actions.append(Cut(direction, at, comment))

    def say(self, text: str) -> None:
        """A line for the person."""
        self.actions.append(Say(f"{self.name}: {text}"))

    def abort(self, reason: str, *, reset: bool = False) -> None:
        """Close both sides now."""
        self.over = True
        self._open = None
        self.actions.append(Abort(reason, reset))

    def give_up(self, reason: str) -> None:
        """Close both sides now, and tell the person why."""
        self.say(f"{reason}; connection closed")
        self.abort(reason)

    def fall_silent(self, until: int) -> None:
        """Let no byte pass any longer, and tell nobody; close both sides in the end."""
        self.silent = True
        self.until = until if self.until is None else min(self.until, until)

    def pace(self, rule: str, pace: Pace, now: int) -> int:
        """When a message is through that takes its place on a line of limited rate."""
        line = pace.scope or f"connection {self.number}"
        return self.plan.rules.rule(rule).lines.pace(line, pace.ns, now)

    def keep(self, pending: Pending, body: bytes | None) -> None:
        """Keep a request's body until its response has come, if a rule asks for it then, or for log and
        control if there is room: those do without."""
        pending.body = None
        if body is None:
            return
        room = min(self.limits.copy, self.limits.queued - self.kept)
        shown = self.observed and len(body) <= room
        if shown or self.plan.asks(pending.key, pending.version):
            pending.body = body
            self.kept += len(body)

    def why(self, problem: Exception) -> str:
        """Why bytes can't be read, without them if payload is hidden."""
        if isinstance(problem, Malformed) and not self.plan.quotes:
            return problem.place
        return str(problem)

    def flag(self, direction: Direction, ordinal: int, at: int, reason: str) -> None:
        """A frame passes that nobody could read: count it, say so in log and capture."""
        self.unread(direction, ordinal, at, reason)
        if self.totals.undecoded <= SAID:
            self.say(f"{direction} passed on undecoded: {reason}")

    def unread(self, direction: Direction, ordinal: int, at: int, reason: str) -> None:
        """Nobody could read a frame: count it, say so in the capture."""
        self.totals.undecoded += 1
        self.cut(direction, at, {"frame": ordinal, "undecodable": reason})

    def withhold(
        self, pending: Pending | None, ordinal: int, at: int, size: int, reason: str, now: int
    ) -> None:
        """A response that has come (pending: to what, if to anything) may not pass: close both sides, say
        why in words, log and capture."""
        note = "response not sent on: connection closed"
        self.cut("response", at, {"frame": ordinal, "left": "never", "note": note})
        if pending is not None:
            self.done(pending, size, came=now, note=note)
        self.give_up(reason)

    def done(
        self,
        pending: Pending,
        response_size: int | None = None,
        response_body: bytes | None = None,
        *,
        came: int | None = None,
        left: int | None = None,
        rules: tuple[str, ...] = (),
        note: str = "",
    ) -> None:
        """An exchange is over: count it, and report it if somebody watches."""
        self.tally.note(pending.key, None if left is None else left - pending.arrived)
        self.kept -= len(pending.body or b"")
        if not self.observed:
            pending.body = None
            return
        exchange = build_exchange(
            pending,
            connection=self.number,
            client_address=self.client,
            broker=self.broker,
            received=came,
            answered=left,
            response_size=response_size,
            response_body=response_body,
            rules=rules,
            note=note,
        )
        pending.body = None
        if exchange.request_size > self.limits.copy:
            exchange.leave_out("request")
        if (exchange.response_size or 0) > self.limits.copy:
            exchange.leave_out("response")
        self.actions.append(Done(exchange))


def _let_go(outlet: Outlet, direction: Direction, kept: Collection[str]) -> None:
    """Queue what other rules than these hold back, before all that arrived after it.

    A frame that was delayed keeps its time as long as one of the rules that fired on it is kept.
    """
    freed: list[Item] = []
    for held in [held for held in outlet.aside if held.rule not in kept]:
        outlet.take(held)
        freed.append(held.item)
    for rule in [rule for rule in outlet.windows if rule not in kept]:
        gathered = outlet.windows.pop(rule).items
        outlet.bytes -= sum(item.cost for item in gathered)
        freed += gathered
    for rule in [rule for rule in outlet.batches if rule not in kept]:
        outlet.complete(rule)
    for item in freed:
        outlet.rejoin(item)
    waiting = [*outlet.queue, *(held.item for held in outlet.aside)]
    waiting += [item for window in outlet.windows.values() for item in window.items]
    for item in waiting:
        fired = item.rules
        if direction == "request" and item.pending is not None:
            fired = item.pending.rules
        if fired and not any(rule in kept for rule in fired):
            item.at = 0
            item.hang_up = None
