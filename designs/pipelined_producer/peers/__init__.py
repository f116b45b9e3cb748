"""The pipelined producer of the document that became Kafka's new producer: several requests in flight.

The client's thread gives an event its partition and puts it into a queue (`intake`). The send thread does
everything else in one event loop (`steps`: the document's, in its order), except lookups of host names
(`sockets`). `settings` decides what the document leaves open, e.g. which thread serialises.
`BLOCKING_0_8` is the producer that the document wants to replace.

with PipelinedProducer([("127.0.0.1", 9092)]) as producer:
    producer.send("orders", b"value", key=b"key", told=print)
"""

from __future__ import annotations

from barnabas.designs.pipelined_producer.peers.event import Event, Outcome
from barnabas.designs.pipelined_producer.peers.intake import QueueFull, TooLarge
from barnabas.designs.pipelined_producer.peers.producer import PipelinedProducer, Stopped
from barnabas.designs.pipelined_producer.peers.settings import BLOCKING_0_8, Settings

__all__ = [
    "BLOCKING_0_8",
    "Event",
    "Outcome",
    "PipelinedProducer",
    "QueueFull",
    "Settings",
    "Stopped",
    "TooLarge",
]
