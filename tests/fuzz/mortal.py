"""A broker that somebody else runs: a thread that answers ApiVersions and Metadata, and dies of a word."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

from barnabas.fuzz.sessions.session import TOPIC
from barnabas.specs.keys import API_VERSIONS, METADATA
from tests.fuzz.observed import response

ANSWERS = {
    API_VERSIONS: response(
        API_VERSIONS,
        0,
        {
            "error_code": 0,
            "api_keys": [
                {"api_key": API_VERSIONS, "min_version": 0, "max_version": 0},
                {"api_key": METADATA, "min_version": 1, "max_version": 1},
            ],
        },
    ),
    METADATA: response(
        METADATA,
        1,
        {
            "brokers": [],
            "controller_id": -1,
            "topics": [{"error_code": 0, "name": TOPIC, "is_internal": False, "partitions": []}],
        },
    ),
}


class Mortal:
    """kills: whether a request ends it. What it got stands in `asked`; `start` brings it back at its port."""

    def __init__(self, kills: Callable[[bytes], bool]) -> None:
        self.kills = kills
        self.asked: list[bytes] = []
        self.answers = ANSWERS
        self.address = ("127.0.0.1", 0)
        self._taken: list[socket.socket] = []
        self.start()

    def start(self) -> None:
        self._listener = socket.create_server(self.address)
        self.address = self._listener.getsockname()
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def die(self) -> None:
        """As a process does: nobody listens any more, and what was open is closed."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._taken:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                taken, _ = listener.accept()
            except OSError:
                return
            self._taken.append(taken)
            threading.Thread(target=self._serve, args=(taken,), daemon=True).start()

    def _serve(self, taken: socket.socket) -> None:
        with contextlib.suppress(OSError), taken, taken.makefile("rwb") as stream:
            while size := stream.read(4):
                asked = stream.read(int.from_bytes(size))
                self.asked.append(asked)
                if self.kills(asked):
                    self.die()
                    return
                answer = self.answers.get(int.from_bytes(asked[:2]))
                if answer is None:
                    return
                answer = asked[4:8] + answer[4:]
                stream.write(len(answer).to_bytes(4) + answer)
                stream.flush()
