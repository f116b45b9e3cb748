from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from barnabas.fuzz.targets.lanes import Lanes
from barnabas.specs.keys import METADATA, PRODUCE
from tests.fuzz.observed import ASK, case, request, response

ANSWER = response(METADATA, 1, {"brokers": [], "controller_id": -1, "topics": []})
SILENT = request(PRODUCE, 3, {"acks": 0, "timeout_ms": 1, "topic_data": []})


@pytest.fixture
def broker() -> Iterator[tuple[str, int]]:
    """Answers Metadata, and says nothing to Produce."""

    def serve(taken: socket.socket) -> None:
        with taken, taken.makefile("rwb") as stream:
            while size := stream.read(4):
                asked = stream.read(int.from_bytes(size))
                if asked[:2] == METADATA.to_bytes(2):
                    answer = asked[4:8] + ANSWER[4:]
                    stream.write(len(answer).to_bytes(4) + answer)
                    stream.flush()

    def accept() -> None:
        while True:
            try:
                taken, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(taken,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()
        listener.shutdown(socket.SHUT_RDWR)


def test_a_connection_is_left_behind_on_which_a_request_was_told_nothing(
    broker: tuple[str, int],
) -> None:
    lanes = Lanes(1)
    lanes.aim(broker)
    cases = [
        case(*chunks, number=number)
        for number, chunks in enumerate([(ASK,), (ASK,), (SILENT,), (ASK,), (SILENT, ASK), (ASK,)])
    ]
    seen, _ = lanes.run(cases)
    lanes.close()
    assert [len(one.replies) for one in seen] == [1, 1, 0, 1, 1, 1]
    assert [one.ending for one in seen] == ["open"] * 6
    reused = [dict(one.facts).get("reused", False) for one in seen]
    assert reused == [False, True, True, False, True, False]
