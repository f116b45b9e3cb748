"""Probes of brokers' behaviour where the protocol guide of 0.8 makes a statement.

A probe takes two brokers and a version of an API, and returns in a few words what the broker did. If the
broker closes the connection, the probe raises ConnectionError, which counts as a result, too (`closed`).
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
from barnabas.designs.leaders import NOT_LEADER, Address, TopicPartition, metadata
from barnabas.designs.protocol_guide.client_0_8 import LATEST, Client, Group, Produced, requests
from barnabas.designs.protocol_guide.client_0_8.client import Connection
from barnabas.designs.protocol_guide.client_0_8.groups import Storage
from barnabas.specs.keys import CONTROLLED_SHUTDOWN, FETCH, LIST_OFFSETS, METADATA, PRODUCE
from barnabas.specs.records import Record, build, compress

PLACE: Final[TopicPartition] = ("guide", 0)
LIMIT: Final = 20_000
"""Bytes of the largest request that the brokers take, without its size."""
SILENCE: Final = 10.0
"""Seconds to wait for a response."""
ACKS_MS: Final = 1_000
"""Milliseconds that brokers may wait for acknowledgements."""
SOON: Final = 5.0
"""Seconds until a follower learns which records all replicas have."""
CLOSES: Final = "closes the connection"
STALE_CONTROLLER_EPOCH: Final = 11
DEBUGGING: Final = -2
_NAMES: Final = {"zookeeper": "v0", "kafka": "v1"}
FETCH_OF: Final = {0: 0, 3: 4}
"""The version of Fetch that returns the batches of a version of Produce."""
MAGIC_OF: Final = {0: 0, 3: 2}
"""The magic of the batches of a version of Produce."""


class Peer(NamedTuple):
    """Two brokers with a topic on both, and the guide's client without retries."""

    client: Client

    @property
    def leader(self) -> Address:
        """Return the topic's leader."""
        cluster = self.client.cluster
        return cluster.brokers[cluster.leaders[PLACE]]

    @property
    def follower(self) -> Address:
        """Return the other broker."""
        (address,) = set(self.client.cluster.brokers.values()) - {self.leader}
        return address

    def produce(self, records: bytes, version: int, acks: int = -1) -> Produced:
        """Append encoded messages."""
        body = requests.produce_bytes({PLACE: records}, acks, ACKS_MS)
        return requests.produced(self.client.ask(self.leader, PRODUCE, body, version))[PLACE]

    def fetch(
        self, at: int, version: int, replica_id: int = requests.CONSUMER, *, follower: bool = False
    ) -> requests.Fetched:
        """Return all messages of the sets that a Fetch from an offset gets."""
        body = requests.fetch(
            {PLACE: at}, max_wait_ms=200, min_bytes=1, max_bytes=1 << 16, replica_id=replica_id
        )
        broker = self.follower if follower else self.leader
        return requests.fetched(self.client.ask(broker, FETCH, body, version), {})[PLACE]


def messages(version: int, count: int = 1, **how: Any) -> bytes:
    """Encode messages for a version of Produce."""
    records = [Record(number, -1, None, b"v") for number in range(count)]
    return build(records, magic=MAGIC_OF[version], **how)


def code(error: int) -> str:
    """Return the table's text for an error."""
    return f"code {error}"


def closed(problem: ConnectionError) -> bool:
    """Return whether the broker closed the connection; other exceptions are no result."""
    return bool(re.search("closed the connection|reset by peer|Broken pipe", str(problem)))


def any_api(peer: Peer, _: int) -> str:
    """Report which of the guide's four APIs the broker answers in v0."""
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
    """Report whether Produce with acks=0 is answered before the next request of the connection."""
    with closing(Connection(peer.leader, "guide", SILENCE)) as connection:
        body = requests.produce_bytes({PLACE: messages(version)}, 0, ACKS_MS)
        connection.send(PRODUCE, body, version, answered=False)
        connection.send(METADATA, metadata([PLACE[0]]))
        try:
            connection.receive()
        except ProtocolError:
            return "an answer"
    return "no answer"


def error_of_produce(
    spoil: Callable[[bytes], bytes] = bytes, acks: int = -1
) -> Callable[[Peer, int], str]:
    """Make a probe of the error for a set that `spoil` has changed."""
    return lambda peer, version: code(peer.produce(spoil(messages(version)), version, acks).error)


def flipped(data: bytes) -> bytes:
    """Flip the last bit."""
    return data[:-1] + bytes([data[-1] ^ 1])


def negative_size(data: bytes) -> bytes:
    """Set the size of the first message of a set, or of the batch in magic 2, to -5."""
    return data[:8] + struct.pack(">i", -5) + data[12:]


def negative_size_inside(peer: Peer, _: int) -> str:
    """Report the error for a message of -5 bytes inside a compressed one."""
    inner = compress("gzip", negative_size(messages(0)))
    return code(peer.produce(messages(0, compression="gzip", compressor=lambda _: inner), 0).error)


def offset_of_a_compressed_set(peer: Peer, version: int) -> str:
    """Report which message's offset the broker returns for a compressed set of three."""
    before = peer.produce(messages(version), version)
    after = peer.produce(messages(version, 3, compression="gzip"), version)
    if before.error or after.error:
        return code(before.error or after.error)
    return "of the first one inside" if after.offset == before.offset + 1 else "of another"


def middle_of_a_compressed_set(peer: Peer, version: int) -> str:
    """Report what a Fetch of the last message of a compressed set of three returns."""
    error, first = peer.produce(messages(version, 3, compression="gzip"), version)
    offsets = [offset for offset, _ in peer.fetch(first + 2, FETCH_OF[version]).messages]
    if error or len(offsets) not in {1, 3}:
        return f"{code(error)}, {len(offsets)} messages"
    return "all of the set" if offsets[0] == first else "what was asked for"


def layout_of_a_fetch(peer: Peer, version: int) -> str:
    """Decode a Fetch response by Kafka's definitions. Raises ProtocolError if bytes are left over."""
    return "topic names, no FetchedOffset" if peer.fetch(0, version).messages else "no messages"


def debugging_fetch(peer: Peer, version: int) -> str:
    """Report what a follower returns to replica id -2; it refuses a consumer."""
    if (error := peer.fetch(0, version, follower=True).error) != NOT_LEADER:
        return f"{code(error)} even to a consumer"
    until = time.monotonic() + SOON
    while True:
        fetched = peer.fetch(0, version, DEBUGGING, follower=True)
        if fetched.error or fetched.messages:
            return code(fetched.error) if fetched.error else "a follower gives records"
        if time.monotonic() > until:
            return "nothing comes"


def offset_request_as_laid_out(peer: Peer, _: int) -> str:
    """Send an Offset request without the replica id, which the guide leaves out."""
    name = "guide"
    request = Dialogue(name).ask(LIST_OFFSETS, 0, requests.offsets({PLACE: LATEST}, 1))
    begin = struct.calcsize(">ihhih") + len(name)
    frame = request[4:begin] + request[begin + 4 :]
    with socket.create_connection(peer.leader, SILENCE) as sock:
        sock.sendall(struct.pack(">i", len(frame)) + frame)
        return "answers" if sock.recv(1) else CLOSES


def offsets(peer: Peer, _: int) -> str:
    """Report which of ten offsets the broker returns of a log of one segment."""
    end = peer.produce(messages(0), 0).offset + 1
    answer = peer.client.ask(peer.leader, LIST_OFFSETS, requests.offsets({PLACE: LATEST}, 10))
    error, starts = requests.offsets_found(answer)[PLACE]
    return code(error) if error else "segment and end" if starts == (end, 0) else f"{starts}"


def beyond_the_limit(peer: Peer, _: int) -> str:
    """Report whether the broker answers a request of the limit, and one of a byte more."""
    body = metadata([PLACE[0]])
    around = len(Dialogue("").ask(METADATA, 0, body)) - 4
    for size in (LIMIT, LIMIT + 1):
        with Client([], client_id="c" * (size - around), timeout=SILENCE) as client:
            try:
                client.ask(peer.leader, METADATA, body)
            except ConnectionError as problem:
                if not closed(problem):
                    raise
                return "disconnects" if size > LIMIT else "disconnects below the limit, too"
    return "answers"


def leader_of_a_new_topic(peer: Peer, _: int) -> str:
    """Report the error of a topic that the request creates, before its leader is elected."""
    body = peer.client.ask(peer.leader, METADATA, metadata(["just-made"]))
    return code(body["topics"][0]["error_code"])


def shutdown_of_an_unknown_broker(peer: Peer, _: int) -> str:
    """Report the error of ControlledShutdown v0 from the controller; another broker refuses it."""
    errors = [
        peer.client.ask(each, CONTROLLED_SHUTDOWN, {"broker_id": 99})["error_code"]
        for each in (peer.leader, peer.follower)
    ]
    return code(next((error for error in errors if error != STALE_CONTROLLER_EPOCH), errors[0]))


def committed(storage: Storage, other: Storage) -> Callable[[Peer, int], str]:
    """Make a probe of a commit in one store, and of its visibility in the other one."""

    def probe(peer: Peer, _: int) -> str:
        group, other_group = (Group(peer.client, storage, storage=s) for s in (storage, other))
        if error := group.commit({PLACE: 42}, metadata="so far")[PLACE]:
            return code(error)
        _, offset, metadata = group.committed([PLACE])[PLACE]
        shared = other_group.committed([PLACE])[PLACE].offset == 42
        if offset != 42:
            return f"offset {offset}"
        stored = "offset and metadata" if metadata == "so far" else "offset only"
        return f"{stored}, {'and' if shared else 'not'} for {_NAMES[other]}"

    return probe


def nothing_committed(storage: Storage) -> Callable[[Peer, int], str]:
    """Make a probe of the response for a partition without a commit."""

    def probe(peer: Peer, _: int) -> str:
        commit = Group(peer.client, "nothing", storage=storage).committed([PLACE])[PLACE]
        return f"{code(commit.error)}, offset {commit.offset}"

    return probe
