"""The event loop under any sequence of sends, losses, refusals, moves and delays.

Promised: every event is reported once; what is in the producer's hands is bounded; what was
acknowledged is in a log; order per partition as long as nothing had to be sent again; with one in
flight order also then, but for what is written twice; and when the faults stop, all gets through.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import settings as profile
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from barnabas.designs.pipelined_producer.peers.event import Event
from barnabas.designs.pipelined_producer.peers.intake import QueueFull
from barnabas.designs.pipelined_producer.peers.settings import Settings
from tests.designs.pipelined_producer.peers.stage import Cluster, Stage

ROOM, MOST = 6, 15
PARTITIONS = 3
NODES = (1, 2)


class Producing(RuleBasedStateMachine):
    stage: Stage

    @initialize(
        in_flight=st.sampled_from((1, 2, 4)),
        queueing=st.sampled_from(("partition", "one")),
        metadata=st.sampled_from(("blocking", "non-blocking")),
        total=st.sampled_from((None, 1)),
        batch=st.integers(1, 3),
        batch_bytes=st.sampled_from((61 + 2 * 38, 1 << 20)),
        request_bytes=st.sampled_from((32 + 18 + 18 + 1 + 61 + 3 * 38, 1 << 20)),
        linger=st.sampled_from((0, 30)),
        old=st.booleans(),
        chunk=st.sampled_from((7, 60, 1 << 20)),
    )
    def begin(
        self, total: int | None, batch: int, linger: int, old: bool, chunk: int, **how: Any
    ) -> None:
        settings = Settings(
            in_flight_total=total,
            batch_messages=batch,
            linger_ms=linger,
            queue_messages=ROOM,
            outstanding=MOST,
            retries=3,
            retry_backoff_ms=50,
            answer_timeout_ms=1000,
            expiry_ms=1500,
            **how,
        )
        self.stage = Stage(settings, Cluster(len(NODES), {"t": PARTITIONS}), chunk=chunk)
        if old:
            self.stage.cluster.brokers[1].offered = None
        self.accepted: list[Event] = []
        self.again = False
        """Whether anything had to be sent again."""
        self.number = 0
        self.queued: dict[bytes, tuple[bytes | None, int]] = {}
        """The partition that was asked for, or else the key: its partition is known only with the topic."""

    @rule(partition=st.integers(-1, PARTITIONS - 1), key=st.sampled_from((None, b"a", b"b", b"c")))
    def send(self, partition: int, key: bytes | None) -> None:
        try:
            event = self.stage.send(b"%d" % self.number, key=key, partition=partition)
        except QueueFull:
            waiting = len(self.stage.intake.queues)
            assert waiting >= ROOM or self.stage.intake.outstanding == MOST
        else:
            self.accepted.append(event)
            self.queued[event.value] = key if partition < 0 else None, partition
            self.number += 1

    @rule()
    def turn(self) -> None:
        self.stage.turn()

    @rule(ms=st.sampled_from((1, 20, 70, 300)))
    def wait(self, ms: float) -> None:
        self.stage.wait(ms)

    @rule(node=st.sampled_from(NODES))
    def stop_answering(self, node: int) -> None:
        self.stage.cluster.brokers[node].answering = False

    @rule(node=st.sampled_from(NODES))
    def answer_again(self, node: int) -> None:
        self.stage.cluster.brokers[node].answering = True

    @rule(node=st.sampled_from(NODES), error=st.sampled_from((0, 3, 6, 10, 19)))
    def refuse(self, node: int, error: int) -> None:
        self.stage.cluster.brokers[node].errors.append(error)
        self.again |= error not in (0, 10)

    @rule(partition=st.integers(0, PARTITIONS - 1), node=st.sampled_from((-1, *NODES)))
    def move(self, partition: int, node: int) -> None:
        self.stage.cluster.leaders["t", partition] = node
        self.again = True

    @precondition(lambda self: self.stage.wires)
    @rule(data=st.data(), handled=st.integers(0, 2))
    def cut(self, data: st.DataObject, handled: int) -> None:
        """A connection ends; the broker may have handled some of what was in flight."""
        node = data.draw(st.sampled_from(sorted(self.stage.wires)))
        self.stage.wires[node].work(handled)
        self.stage.cut(node)
        self.again = True

    @rule(node=st.sampled_from(NODES), taken=st.booleans())
    def take_bytes(self, node: int, taken: bool) -> None:
        (self.stage.unwritable.discard if taken else self.stage.unwritable.add)(node)

    @rule(node=st.sampled_from(NODES), accepts=st.booleans())
    def take_connections(self, node: int, accepts: bool) -> None:
        (self.stage.refused.discard if accepts else self.stage.refused.add)(node)

    @invariant()
    def memory_is_bounded(self) -> None:
        stage = self.stage
        flying = sum(
            len(events)
            for link in stage.loop.links.brokers.values()
            for sent in (*link.in_flight, *([link.writing] if link.writing else ()))
            for events in sent.batches.values()
        )
        held = len(stage.intake.queues) + len(stage.loop.retries) + flying
        unreported = sum(1 for one in stage.loop.actions)
        assert stage.intake.outstanding == len(self.accepted) - len(stage.outcomes) <= MOST
        assert held <= stage.intake.outstanding <= held + unreported
        for link in stage.loop.links.brokers.values():
            assert len(link.in_flight) <= stage.settings.in_flight
        if stage.settings.in_flight_total is not None:
            assert sum(len(link.in_flight) for link in stage.loop.links.brokers.values()) <= 1

    @invariant()
    def each_is_reported_once_and_what_was_acknowledged_is_there(self) -> None:
        reported = Counter(id(outcome.event) for outcome in self.stage.outcomes)
        assert all(count == 1 for count in reported.values())
        assert reported.keys() <= {id(event) for event in self.accepted}
        for outcome in self.stage.outcomes:
            if outcome.problem is None:
                log = self.stage.cluster.logs[outcome.event.topic_partition]
                assert log[outcome.offset] == outcome.event.value

    @invariant()
    def order_holds_in_each_partition(self) -> None:
        """Of what the client put there in order: of one queue."""
        stage = self.stage
        if self.again and stage.settings.in_flight > 1:
            return
        for log in stage.cluster.logs.values():
            for queue in set(self.queued.values()):
                own = [int(value) for value in log if self.queued[value] == queue]
                firsts = list(dict.fromkeys(own))
                # written again is what was lost with its connection: behind it nothing may be new
                assert self.again or own == firsts
                assert firsts == sorted(firsts)

    def teardown(self) -> None:
        """The faults stop: everything is reported, and what is sent then gets through."""
        if not hasattr(self, "stage"):
            return
        stage = self.stage
        for node in NODES:
            broker = stage.cluster.brokers[node]
            broker.answering = True
            broker.errors.clear()
        for partition in range(PARTITIONS):
            if stage.cluster.leaders["t", partition] < 0:
                stage.cluster.leaders["t", partition] = 1
        stage.unwritable.clear()
        stage.refused.clear()
        stage.wait(3000)
        assert stage.intake.outstanding == 0
        assert len(stage.outcomes) == len(self.accepted)
        before = len(stage.outcomes)
        for partition in range(PARTITIONS):
            self.accepted.append(stage.send(b"%d" % (self.number + partition), partition=partition))
        stage.wait(1200)
        assert [one.problem for one in stage.outcomes[before:]] == [None] * PARTITIONS
        self.each_is_reported_once_and_what_was_acknowledged_is_there()


TestProducing = Producing.TestCase
TestProducing.settings = profile(max_examples=60, stateful_step_count=40)
