"""The workload of Kafka Streams, through JPype: an application that copies a topic, exactly once.

Its members are those of the streams rebalance protocol (KIP-1071) where the release offers it.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from java_client import READS, close, poll, properties
from java_machine import java, jpype, kafka
from work import Member, PendingRecords, Reader, Work

_STREAMS = jpype.JPackage("org.apache.kafka.streams")
_SERDE = "org.apache.kafka.common.serialization.Serdes$StringSerde"


def read_process_write(work: Work) -> int:
    """Copy records to another topic, each in the transaction that commits its offset.

    A copied record counts as acknowledged once a consumer can read it.
    """
    pending = PendingRecords(work)
    first = work.members[0]
    pending.run_members(
        work.members, lambda member: _run_instance(work, pending, member, member == first)
    )
    return work.records


def _run_instance(work: Work, pending: PendingRecords, member: Member, follows: bool) -> None:
    """Run an instance of the application. follows: whether it waits for the copies of all instances."""
    failed: list[Any] = []
    reader = Reader(work, member.name, isolation="read_committed")
    state = Path(tempfile.mkdtemp(prefix="streams-"))
    streams = _STREAMS.KafkaStreams(_topology(work, reader), _settings(work, state))
    streams.setUncaughtExceptionHandler(_Failed(failed))
    copies = _consumer(work) if follows else None
    try:
        streams.start()
        while not failed and pending.unfinished():
            if copies is None:
                time.sleep(0.1)
                continue
            for copy in poll(copies):
                record = str(copy.value())
                work.acknowledged(record, work.output, int(copy.partition()), int(copy.offset()))
                pending.received(record.encode())
    finally:
        if copies is not None:
            close(copies)
        close(streams, 5000)
        shutil.rmtree(state, ignore_errors=True)
    if failed:
        raise failed[0]


def _settings(work: Work, state: Path) -> Any:
    settings = {
        "application.id": work.group,
        "state.dir": state,
        "default.key.serde": _SERDE,
        "default.value.serde": _SERDE,
        "processing.guarantee": "exactly_once_v2",
    }
    table = properties(work, "streams", settings)
    if hasattr(_STREAMS.StreamsConfig, "GROUP_PROTOCOL_CONFIG"):
        table.setProperty("group.protocol", "streams")
    return table


def _topology(work: Work, reader: Reader) -> Any:
    @jpype.JImplements("org.apache.kafka.streams.processor.api.Processor")
    class Copying:
        """A processor of one task, that is of one partition."""

        @jpype.JOverride  # type: ignore[untyped-decorator]
        def init(self, context: Any) -> None:
            self._context = context
            for topic in work.topics:
                reader.partition_assigned(topic, int(context.taskId().partition()))

        @jpype.JOverride  # type: ignore[untyped-decorator]
        def process(self, record: Any) -> None:
            value, position = str(record.value()), self._context.recordMetadata().get()
            topic, partition = str(position.topic()), int(position.partition())
            reader.consumed(topic, partition, int(position.offset()), value.encode())
            # after an abort, Streams copies the records of several partitions in another order
            work.sent(value, work.output, producer=f"{topic}-{partition}")
            self._context.forward(record)

    @jpype.JImplements("org.apache.kafka.streams.processor.api.ProcessorSupplier")
    class Supplier:
        @jpype.JOverride  # type: ignore[untyped-decorator]
        def get(self) -> Any:
            return Copying()

    builder = _STREAMS.StreamsBuilder()
    builder.stream(java("util.Arrays").asList(work.topics)).process(Supplier()).to(work.output)
    return builder.build()


def _consumer(work: Work) -> Any:
    """Create a consumer of all committed copies."""
    settings = {**READS, "isolation.level": "read_committed", "auto.offset.reset": "earliest"}
    consumer = kafka("clients.consumer.KafkaConsumer")(properties(work, "copies", settings))
    partition = kafka("common.TopicPartition")
    partitions = [partition(work.output, number) for number in range(work.partitions)]
    consumer.assign(java("util.Arrays").asList(partitions))
    return consumer


@jpype.JImplements("org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler")
class _Failed:
    """A handler that keeps a stream thread's exception and shuts the client down, as by default."""

    def __init__(self, failed: list[Any]) -> None:
        self._failed = failed

    @jpype.JOverride  # type: ignore[untyped-decorator]
    def handle(self, problem: Any) -> Any:
        self._failed.append(problem)
        handler = _STREAMS.errors.StreamsUncaughtExceptionHandler
        return handler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT
