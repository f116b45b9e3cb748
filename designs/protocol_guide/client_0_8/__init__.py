"""A client of Kafka 0.8, written after its protocol guide.

The client speaks Produce, Fetch, Offsets and Metadata in v0, message sets of magic 0, and commits offsets
of groups. Brokers from 0.8 to 3.9 accept it; 4.0 removed Fetch v0, Offsets v0 and magic 0 (KIP-896,
KIP-724). 4.3.1 answers Metadata v0, and closes the connection at each of the others. Its ApiVersions
offers Produce v0 all the same.

with Client([("127.0.0.1", 9092)]) as client:
    client.produce({("orders", 0): [Message(None, b"hello")]}, acks=-1)
    client.fetch({("orders", 0): 0}, min_bytes=1, max_wait_ms=1000)
"""

from __future__ import annotations

from barnabas.designs.protocol_guide.client_0_8.client import Client, Unreachable
from barnabas.designs.protocol_guide.client_0_8.errors import Error
from barnabas.designs.protocol_guide.client_0_8.groups import NOTHING, Committed, Group
from barnabas.designs.protocol_guide.client_0_8.message_sets import Message
from barnabas.designs.protocol_guide.client_0_8.requests import (
    EARLIEST,
    LATEST,
    Fetched,
    Offsets,
    Produced,
)

__all__ = [
    "EARLIEST",
    "LATEST",
    "NOTHING",
    "Client",
    "Committed",
    "Error",
    "Fetched",
    "Group",
    "Message",
    "Offsets",
    "Produced",
    "Unreachable",
]
