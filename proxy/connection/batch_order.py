"""Refuses the batches of an idempotent producer that are in flight after its first one was refused (KIP-98).

A broker with records of the producer refuses such batches as out of order, until the producer sends the
refused one again. A broker without records accepts any first sequence number (ProducerAppendInfo): it would
store them, and then refuse the first batch for ever. So the proxy refuses them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.errors import error_codes
from barnabas.proxy.effects import Answer, Become
from barnabas.proxy.error_responses.identities import Identity
from barnabas.proxy.error_responses.split import Split
from barnabas.proxy.faults.refusal import refuse_divided
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.rules import Decision
from barnabas.specs import api, records
from barnabas.specs.malformed import Malformed

OUT_OF_ORDER: Final = 45
"""OUT_OF_ORDER_SEQUENCE_NUMBER."""

TopicPartition = tuple[Any, int]
"""The name or id of a topic, and the index of a partition."""

_ENTRIES: Final = "batches after the first one"


class Batch(NamedTuple):
    """The first batch of an idempotent producer in a partition's records."""

    producer: int
    epoch: int
    sequence: int


class BatchOrder:
    """The partitions in which an idempotent producer's first batch was refused, on one connection."""

    def __init__(self) -> None:
        self._refused: Memory[TopicPartition, tuple[Batch, str]] = Memory()
        """Each with the refused batch and the rule."""

    def __bool__(self) -> bool:
        return bool(len(self._refused))

    def apply(
        self, message: Message, before: bytes, decisions: Sequence[Decision]
    ) -> list[Decision]:
        """Note the first batches that rules have refused, and refuse the batches after such a one.

        Args:
            message: A Produce request, as rules have changed it. It is changed, too.
            before: The body as it came.
            decisions: The decisions of the rules.

        Returns:
            The decision about batches after a refused one; [] if there are none.
        """
        arrived = dict(_batches(message.version, before))
        answer = next(
            (e for each in decisions for e in each.effects if isinstance(e, Answer)), None
        )
        ended = any(decision.is_final for decision in decisions)
        if not arrived or (ended and (answer is None or not _refuses(message, answer))):
            return []
        forwarded = (
            {} if answer is not None else dict(_batches(message.version, message.body or b""))
        )
        late = {
            partition for partition, batch in forwarded.items() if self._is_late(partition, batch)
        }
        for partition in forwarded.keys() - late:
            if self._refused_batch(partition, forwarded[partition]) is not None:
                del self._refused[partition]
        for partition in arrived.keys() - forwarded.keys():
            if arrived[partition].sequence == 0:
                self._refused[partition] = arrived[partition], _refusing_rule(decisions)
        return [self._refusal(message, late)] if late else []

    def _refused_batch(self, partition: TopicPartition, batch: Batch) -> Batch | None:
        """Return the refused first batch of a batch's producer in a partition; None if there is none."""
        refused, _ = self._refused.get(partition, (None, ""))
        return refused if refused is not None and refused.producer == batch.producer else None

    def _is_late(self, partition: TopicPartition, batch: Batch) -> bool:
        """Return whether a batch comes after a refused first batch of its producer."""
        refused = self._refused_batch(partition, batch)
        return refused is not None and refused.epoch == batch.epoch and batch.sequence != 0

    def _refusal(self, message: Message, late: set[TopicPartition]) -> Decision:
        """Return the decision to refuse batches in these partitions."""
        (rule, *_) = sorted({self._refused[partition][1] for partition in late})

        def decide(identity: Identity) -> bool | None:
            if "partition" not in identity:
                return None
            topic = identity.get("topic", identity.get("topic_id"))
            return (topic, identity["partition"]) in late

        split = Split(message.key, message.version, message.values(), decide)
        encode = api(message.key).response.codec(message.version).encode
        effects = refuse_divided(message, split, OUT_OF_ORDER, encode, _ENTRIES, after=False)
        for effect in effects:
            if isinstance(effect, Become):
                message.become(effect.body, effect.head, effect.what)
        return Decision(rule, effects, tuple(map(str, effects)))


def _refusing_rule(decisions: Sequence[Decision]) -> str:
    """Return the last rule that changed or answered a request."""
    return next(
        each.rule
        for each in reversed(decisions)
        if any(isinstance(effect, Become | Answer) for effect in each.effects)
    )


def _refuses(message: Message, answer: Answer) -> bool:
    """Return whether the proxy's own response reports errors only."""
    try:
        return 0 not in error_codes(message.key, message.version, answer.body)
    except Malformed:
        return False


def _batches(version: int, body: bytes) -> Iterator[tuple[TopicPartition, Batch]]:
    """Yield the first batch of idempotent producers in each partition of a Produce request."""
    try:
        values = api("Produce").request.codec(version).decode(body)
    except Malformed:
        return
    for topic in values["topic_data"]:
        name = topic["name"] if "name" in topic else topic["topic_id"]
        for partition in topic["partition_data"]:
            try:
                batch = next(records.read(partition["records"] or b""))
            except (Malformed, StopIteration):
                continue
            if batch.producer_id >= 0:
                first = Batch(batch.producer_id, batch.producer_epoch, batch.base_sequence)
                yield (name, partition["index"]), first
