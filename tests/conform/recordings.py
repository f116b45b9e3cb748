"""Recorded results of each check on Apache Kafka 4.3.1, and wrong answers made of them.

`python -m tests.conform.recordings HOST:PORT [PATTERN...]` records checks anew.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import struct
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.catalog import chosen
from barnabas.conform.check import Check
from barnabas.conform.cleanup import delete
from barnabas.conform.connection import Versions
from barnabas.conform.drive import drive
from barnabas.conform.expectations import CODES, path_steps
from barnabas.conform.network import Network
from barnabas.conform.operations import Now, Operation, Read, Silence, Unreachable, Write
from barnabas.conform.run import Suite
from barnabas.specs.frames import decode_frame, encode_frame
from barnabas.specs.registry import NAMES, key_of

FOLDER: Final = Path(__file__).parent / "recorded"

Step = tuple[str, Any]
"""The kind of an operation, and its result."""


CLOSED: Final = "closed"
"""In the place of an API: a connection that the broker closed."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A response that violates a requirement, in place of a recorded one."""

    api: str
    nth: int
    """Which response of the API: 0 is the first, -1 the last."""
    change: Callable[[bytes, int], bytes | Silence | None]
    """Gets the response and its version, and returns another one, None (closed) or Silence."""


PATIENCE_S: Final = 60.0
"""How far the clock goes on in each step behind the recording, so that deadlines pass."""


class Drift(Exception):
    """The check performs other operations than were recorded."""


class Recording:
    """The results of one check, with the versions that the broker offered."""

    def __init__(self, versions: Versions, prefix: str, steps: list[Step]) -> None:
        self.versions = versions
        self.prefix = prefix
        self.steps = steps

    def run(self, check: Check, wrong: Wrong | None = None) -> None:
        """Run a check on the recording. Raises what the check raises, and Drift.

        Args:
            check: the check.
            wrong: replaces a response; a check that continues gets its last response again.
        """
        player = self._play(check, None, 0)
        if wrong is not None:
            nth = wrong.nth + (player.responses[wrong.api] if wrong.nth < 0 else 0)
            assert 0 <= nth < player.responses[wrong.api], f"no response {nth} of {wrong.api}"
            self._play(check, wrong, nth)

    def _play(self, check: Check, wrong: Wrong | None, nth: int) -> _Player:
        player = _Player(self.steps, wrong, nth)
        drive(Broker(self.versions, self.prefix).run(check.run), player.perform)
        return player


class _Player:
    """Returns the recorded results of operations."""

    def __init__(self, steps: list[Step], wrong: Wrong | None, nth: int) -> None:
        self.responses: Counter[str] = Counter()
        self._steps = iter(steps)
        self._wrong = wrong
        self._nth = nth
        self._time: float = 0.0
        self._in_flight: dict[int, deque[tuple[str, int, bytes]]] = defaultdict(deque)
        """Connection -> API, version and correlation id of its requests."""
        self._sent: dict[int, bytearray] = defaultdict(bytearray)
        """Connection -> what was sent of an incomplete request."""
        self._response: bytes | None = None

    def perform(self, operation: Operation[Any]) -> Any:
        """Return the result of an operation."""
        if isinstance(operation, Write):
            self._sent[operation.connection] += operation.data
            self._in_flight[operation.connection].extend(
                _requests(self._sent[operation.connection])
            )
        kind, result = next(self._steps, ("", None))
        if not kind and self._wrong is not None:
            return self._again(operation)
        if kind != type(operation).__name__:
            raise Drift(f"the check performs {operation}; recorded: {kind or 'nothing more'}")
        if isinstance(operation, Read) and not isinstance(result, Silence):
            return self._answer(operation.connection, result)
        if isinstance(operation, Now):
            self._time = float(result or 0)
        return result

    def _answer(self, connection: int, response: bytes | None) -> bytes | Silence | None:
        in_flight = self._in_flight[connection]
        request = in_flight.popleft() if in_flight else ("", 0, b"")
        api, version = (CLOSED, 0) if response is None else request[:2]
        self.responses[api] += 1
        wrong = self._wrong
        result: bytes | Silence | None = response
        if wrong is not None and api == wrong.api and self.responses[api] == self._nth + 1:
            result = wrong.change(response or b"", version)
        if isinstance(result, bytes):
            self._response = result
        return result

    def _again(self, operation: Operation[Any]) -> Any:
        if isinstance(operation, Now):
            self._time += PATIENCE_S
            return self._time
        if isinstance(operation, Read) and self._response is not None:
            _, _, correlation_id = self._in_flight[operation.connection].popleft()
            return correlation_id + self._response[4:]
        return None


def recordings(area: str) -> dict[str, Recording]:
    """Return the recordings of an area's checks by name."""
    lines = map(json.loads, (FOLDER / f"{area}.jsonl").read_text().splitlines())
    versions = {name: (low, high) for name, (low, high) in next(lines)["versions"].items()}
    return {
        line["check"]: Recording(
            versions,
            line["prefix"],
            [(kind, _result(kind, result)) for kind, result in line["steps"]],
        )
        for line in lines
    }


def _result(kind: str, written: Any) -> Any:
    if written in ("silence", "unreachable"):
        return Silence() if written == "silence" else Unreachable()
    return bytes.fromhex(written) if kind == "Read" and written is not None else written


def _written(result: Any) -> Any:
    if isinstance(result, Silence | Unreachable):
        return type(result).__name__.lower()
    return result.hex() if isinstance(result, bytes) else result


def stays_open(nth: int = 0) -> Wrong:
    """Keep a connection open that the broker has closed."""
    return Wrong(CLOSED, nth, silence)


def closed(frame: bytes, version: int) -> None:
    """Close the connection in place of a response."""


def silence(frame: bytes, version: int) -> Silence:
    """Send nothing in place of a response."""
    return Silence()


def other_correlation_id(frame: bytes, version: int) -> bytes:
    """Change the correlation id of a response."""
    return b"\0\0\0\x63" + frame[4:]


def _requests(sent: bytearray) -> Iterator[tuple[str, int, bytes]]:
    """Take whole requests from the bytes sent, and yield API, version and correlation id of each."""
    while len(sent) >= 4:
        size = int.from_bytes(sent[:4], "big", signed=True)
        if size < 8:
            sent.clear()
        if len(sent) < 4 + size or not sent:
            return
        frame = bytes(sent[4 : 4 + size])
        del sent[: 4 + size]
        key, version = struct.unpack(">hh", frame[:4])
        yield NAMES.get(key, ""), version, frame[4:8]


def with_fields(api: str, nth: int, fields: Mapping[str, Any]) -> Wrong:
    """Change fields of a response: paths such as `topics[0].name`, errors by name."""

    def change(frame: bytes, version: int) -> bytes:
        decoded = decode_frame(frame, "response", key=key_of(api), version=version)
        for path, value in fields.items():
            *parents, last = path_steps(path)
            target: Any = decoded.body
            for step in parents:
                target = target[step]
            code = CODES[value] if str(last).endswith("error_code") else value
            assert target[last] != code, f"{path} is {value} in the recording"
            target[last] = code
        return encode_frame(decoded)[4:]

    return Wrong(api, nth, change)


async def record(address: str, checks: Sequence[Check]) -> dict[str, Any]:
    """Run checks on a broker, and return their recordings as JSON by name."""
    host, _, port = address.rpartition(":")
    versions = await Suite(lambda: Network((host, int(port)))).offered()
    lines = {}
    for check in checks:
        steps: list[Step] = []
        broker = Broker(versions, f"conform-{secrets.token_hex(4)}")
        try:
            async with Network((host, int(port)), observe=partial(_note, steps)) as network:
                await network.run(broker.run(check.run))
        finally:
            async with Network((host, int(port))) as network:
                await network.run(delete(broker.created, versions))
        lines[check.name] = {"check": check.name, "prefix": broker.prefix, "steps": steps}
    return {"": {"versions": versions}, **lines}


def _note(steps: list[Step], operation: Operation[Any], result: Any) -> None:
    steps.append((type(operation).__name__, _written(result)))


def main(address: str, *patterns: str) -> None:
    """Record checks, and write them into the files of their areas."""
    made = asyncio.run(record(address, chosen(patterns)))
    for area in {name.partition("/")[0] for name in made if name}:
        path = FOLDER / f"{area}.jsonl"
        lines = {}
        if path.exists():
            lines = {line.get("check", ""): line for line in map(json.loads, path.open())}
        lines |= {name: line for name, line in made.items() if name.partition("/")[0] in ("", area)}
        path.write_text("".join(f"{json.dumps(lines[name])}\n" for name in sorted(lines)))


if __name__ == "__main__":
    main(*sys.argv[1:])
