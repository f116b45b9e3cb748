"""Probes: requests that show what brokers do where the protocol guide of 0.8 states something.

A probe takes two brokers and a version of an API, and returns in a few words what the broker did. It raises
ConnectionError if the connection is closed; the caller takes that for an answer, too (`closed`).
"""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final, NamedTuple

from barnabas.designs.dialogue import Dialogue, ProtocolError
from barnabas.designs.leaders import NOT_LEADER, Address, Place, metadata
from barnabas.designs.pipelined_producer.peers.batch import magic_for
from barnabas.designs.protocol_guide.client_0_8 import LATEST, Client, Group, Produced, requests
from barnabas.designs.protocol_guide.client_0_8.client import Connection
from barnabas.designs.protocol_guide.client_0_8.groups import Storage
from barnabas.specs.keys import CONTROLLED_SHUTDOWN, FETCH, LIST_OFFSETS, METADATA, PRODUCE
from barnabas.specs.records import Record, build, compress

PLACE: Final[Place] = ("guide", 0)
LIMIT: Final = 20_000
"""Bytes of the largest request that the brokers take, without its size."""
SILENCE: Final = 10.0
"""s after which an answer isn't waited for any more."""
ACKS_MS: Final = 1_000
"""For acknowledgements."""
SOON: Final = 5.0
"""s in which a follower learns what all replicas have."""
CLOSES: Final = "closes the connection"
STALE_CONTROLLER_EPOCH: Final = 11
DEBUGGING: Final = -2
_NAMES: Final = {"zookeeper": "v0", "kafka": "v1"}
FETCH_OF: Final = {0: 0, 3: 4}
"""A version of Produce -> the one of Fetch that has its batches."""


class Peer(NamedTuple):
    """Two brokers with a topic on both, and a client of the guide that does not try again."""

    client: Client

    @property
    def leader(self) -> Address:
        """The address of the topic's leader."""
        cluster = self.client.cluster
        return cluster.brokers[cluster.leaders[PLACE]]

    @property
    def follower(self) -> Address:
        """The address of the other broker."""
        (found,) = set(self.client.cluster.brokers.values()) - {self.leader}
        return found

    def produce(self, records: bytes, version: int, acks: int = -1) -> Produced:
        """Append any bytes."""
        body = requests.produce_bytes({PLACE: records}, acks, ACKS_MS)
        return requests.produced(self.client.ask(self.leader, PRODUCE, body, version))[PLACE]

    def fetch(
        self, at: int, version: int, replica_id: int = requests.CONSUMER, *, follower: bool = False
    ) -> requests.Fetched:
        """Fetch all messages of the sets that a broker sends from an offset."""
        body = requests.fetch(
            {PLACE: at}, max_wait_ms=200, min_bytes=1, max_bytes=1 << 16, replica_id=replica_id
        )
        asked = self.follower if follower else self.leader
        return requests.fetched(self.client.ask(asked, FETCH, body, version), {})[PLACE]


def messages(version: int, count: int = 1, **how: Any) -> bytes:
    """Build a message set for a version of Produce."""
    records = [Record(number, -1, None, b"v") for number in range(count)]
    return build(records, magic=magic_for(version), **how)


def code(error: int) -> str:
    """Write an error code for the table."""
    return f"code {error}"


def closed(problem: ConnectionError) -> bool:
    """Check whether the broker closed the connection; other problems are no answers."""
    return bool(re.search("closed the connection|reset by peer|Broken pipe", str(problem)))


def any_api(peer: Peer, _: int) -> str:
    """Try the guide's four APIs in v0."""
    bodies = {
        "Produce": (PRODUCE, requests.produce_bytes({PLACE: messages(0)}, 1, ACKS_MS)),
        "Fetch": (FETCH, requests.fetch({PLACE: 0}, max_wait_ms=0, min_bytes=0, max_bytes=1 << 16)),
        "Offset": (LIST_OFFSETS, requests.offsets({PLACE: LATEST}, 1)),
        "Metadata": (METADATA, metadata([PLACE[0]])),
    }
    answered = []
    for name, (key, body) in bodies.items():
        try:
            peer.client.ask(peer.leader, key, body)
            answered.append(name)
        except ConnectionError as problem:
            if not closed(problem):
                raise
    return "answers all" if len(answered) == len(bodies) else f"answers {', '.join(answered)} only"


def no_acknowledgement(peer: Peer, version: int) -> str:
    """Check whether a request with acks=0 gets an answer."""
    with closing(Connection(peer.leader, "guide", SILENCE)) as connection:
        body = requests.produce_bytes({PLACE: messages(version)}, 0, ACKS_MS)
        connection.send(PRODUCE, body, version, answered=False)
        connection.send(METADATA, metadata([PLACE[0]]))
        try:
            connection.receive()
        except ProtocolError:
            return "an answer"
    return "no answer"


def acknowledgements(acks: int) -> Callable[[Peer, int], str]:
    """Return a probe of the error for so many acknowledgements."""
    return lambda peer, version: code(peer.produce(messages(version), version, acks).error)


def wrong_checksum(peer: Peer, version: int) -> str:
    """Return the error for a flipped bit."""
    data = bytearray(messages(version))
    data[-1] ^= 1
    return code(peer.produce(bytes(data), version).error)


def sized(data: bytes, size: int) -> bytes:
    """Return a set with another size in its first message (magic 2: batch)."""
    return data[:8] + struct.pack(">i", size) + data[12:]


def negative_size(peer: Peer, version: int) -> str:
    """Return the error for a message, or a batch, of -5 bytes."""
    return code(peer.produce(sized(messages(version), -5), version).error)


def negative_size_inside(peer: Peer, _: int) -> str:
    """Return the error for a message of -5 bytes inside a gzip set."""

    def spoiled(data: bytes) -> bytes:
        return compress("gzip", sized(data, -5))

    data = messages(0, compression="gzip", compressor=spoiled)
    return code(peer.produce(data, 0).error)


def offset_of_a_compressed_set(peer: Peer, version: int) -> str:
    """Return which message's offset is answered for three under gzip."""
    before = peer.produce(messages(version), version)
    told = peer.produce(messages(version, 3, compression="gzip"), version)
    if before.error or told.error:
        return code(before.error or told.error)
    return "of the first one inside" if told.offset == before.offset + 1 else "of another"


def middle_of_a_compressed_set(peer: Peer, version: int) -> str:
    """Fetch from the last of three messages in a compressed set."""
    error, first = peer.produce(messages(version, 3, compression="gzip"), version)
    found = [offset for offset, _ in peer.fetch(first + 2, FETCH_OF[version]).messages]
    if error or len(found) not in {1, 3}:
        return f"{code(error)}, {len(found)} messages"
    return "all of the set" if found[0] == first else "what was asked for"


def layout_of_a_fetch(peer: Peer, version: int) -> str:
    """Read a Fetch response by Kafka's definitions. Raises ProtocolError for trailing bytes."""
    return "topic names, no FetchedOffset" if peer.fetch(0, version).messages else "no messages"


def debugging_fetch(peer: Peer, version: int) -> str:
    """Fetch from a follower with replica id -2; it refuses consumers."""
    if (error := peer.fetch(0, version, follower=True).error) != NOT_LEADER:
        return f"{code(error)} even to a consumer"
    until = time.monotonic() + SOON
    while True:
        found = peer.fetch(0, version, DEBUGGING, follower=True)
        if found.error:
            return code(found.error)
        if found.messages:
            return "a follower gives records"
        if time.monotonic() > until:
            return "nothing comes"


def offset_request_as_laid_out(peer: Peer, _: int) -> str:
    """Send an Offset request without the replica id, which the guide leaves out."""
    name = "guide"
    asked = Dialogue(name).ask(LIST_OFFSETS, 0, requests.offsets({PLACE: LATEST}, 1))
    begin = struct.calcsize(">ihhih") + len(name)
    frame = asked[4:begin] + asked[begin + 4 :]
    with socket.create_connection(peer.leader, SILENCE) as sock:
        sock.sendall(struct.pack(">i", len(frame)) + frame)
        return "answers" if sock.recv(1) else CLOSES


def offsets(peer: Peer, _: int) -> str:
    """Ask for up to ten offsets of a log of one segment."""
    end = peer.produce(messages(0), 0).offset + 1
    body = requests.offsets({PLACE: LATEST}, 10)
    answer = peer.client.ask(peer.leader, LIST_OFFSETS, body)
    found = requests.offsets_found(answer)[PLACE]
    if found.error:
        return code(found.error)
    return "segment and end" if found.offsets == (end, 0) else f"{found.offsets}"


def beyond_the_limit(peer: Peer, _: int) -> str:
    """Send a request of the largest size, and one of a byte more."""
    body = metadata([PLACE[0]])
    around = len(Dialogue("").ask(METADATA, 0, body)) - 4
    for size in (LIMIT, LIMIT + 1):
        with closing(Connection(peer.leader, "c" * (size - around), SILENCE)) as connection:
            try:
                connection.send(METADATA, body)
                connection.receive()
            except ConnectionError as problem:
                if not closed(problem):
                    raise
                return "disconnects" if size > LIMIT else "disconnects below the limit, too"
    return "answers"


def leader_of_a_new_topic(peer: Peer, _: int) -> str:
    """Return the error of a topic that the Metadata request creates."""
    body = peer.client.ask(peer.leader, METADATA, metadata(["just-made"]))
    return code(body["topics"][0]["error_code"])


def shutdown_of_an_unknown_broker(peer: Peer, _: int) -> str:
    """Return the controller's error for a ControlledShutdown v0 of an unknown broker."""
    found = [
        peer.client.ask(each, CONTROLLED_SHUTDOWN, {"broker_id": 99})["error_code"]
        for each in (peer.leader, peer.follower)
    ]
    return code(next((one for one in found if one != STALE_CONTROLLER_EPOCH), found[0]))


def committed(storage: Storage, other: Storage) -> Callable[[Peer, int], str]:
    """Return a probe of what a version of OffsetCommit stores, and whether the other finds it."""

    def probe(peer: Peer, _: int) -> str:
        group, apart = (Group(peer.client, storage, storage=each) for each in (storage, other))
        if error := group.commit({PLACE: 42}, metadata="so far")[PLACE]:
            return code(error)
        kept, seen = group.committed([PLACE])[PLACE], apart.committed([PLACE])[PLACE]
        if kept.offset != 42:
            return f"offset {kept.offset}"
        what = "offset and metadata" if kept.metadata == "so far" else "offset only"
        return f"{what}, {'and' if seen.offset == 42 else 'not'} for {_NAMES[other]}"

    return probe


def nothing_committed(storage: Storage) -> Callable[[Peer, int], str]:
    """Return a probe of the answer for a partition without an offset."""

    def probe(peer: Peer, _: int) -> str:
        found = Group(peer.client, "nothing", storage=storage).committed([PLACE])[PLACE]
        return f"{code(found.error)}, offset {found.offset}"

    return probe
