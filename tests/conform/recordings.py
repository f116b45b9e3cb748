"""Recorded results of each check on Apache Kafka 4.3.1, and wrong answers made of them.

`python -m tests.conform.recordings HOST:PORT [PATTERN...]` records checks anew.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from barnabas.specs.frames import decode_frame, encode_frame, request_head
from barnabas.specs.registry import NAMES, key_of

FOLDER: Final = Path(__file__).parent / "recorded"

Step = tuple[str, Any]
"""The kind of an operation, and its result."""


Answer = Callable[[Operation[Any], Any], Any]
"""Turns an operation and its recorded result into the result that the check gets."""

Wrong = Callable[[], Answer]
"""Makes an answer that violates a requirement."""

PATIENCE_S: Final = 60.0
"""How far the clock goes on in each step behind the recording, so that deadlines pass."""


class Drift(Exception):
    """The check performs other operations than were recorded."""


class Recording:
    """The results of one check, with the versions that the broker offered."""

    def __init__(self, versions: Versions, steps: list[Step]) -> None:
        self.versions = versions
        self.steps = steps

    def run(self, check: Check, answer: Answer | None = None) -> None:
        """Run a check on the recording. Raises what the check raises, and Drift.

        Args:
            check: the check.
            answer: changes results; a check that goes on behind the recording gets its last response again.
        """
        player = _Player(self.steps, answer)
        drive(recorded_broker(check, self.versions).run(check.run), player.perform)


class _Player:
    """Returns the recorded results of operations."""

    def __init__(self, steps: list[Step], answer: Answer | None) -> None:
        self._steps = iter(steps)
        self._answer = answer
        self._time: float = 0.0
        self._correlation_ids: dict[int, bytes] = {}
        self._response: bytes | None = None

    def perform(self, operation: Operation[Any]) -> Any:
        if isinstance(operation, Write):
            self._correlation_ids[operation.connection] = operation.data[8:12]
        kind, result = next(self._steps, ("", None))
        if not kind and self._answer is not None:
            return self._again(operation)
        if kind != type(operation).__name__:
            raise Drift(f"the check performs {operation}; recorded: {kind or 'nothing more'}")
        if self._answer is not None:
            result = self._answer(operation, result)
        if isinstance(operation, Read) and isinstance(result, bytes):
            self._response = result
        elif isinstance(operation, Now):
            assert isinstance(result, float)
            self._time = result
        return result

    def _again(self, operation: Operation[Any]) -> Any:
        if isinstance(operation, Now):
            self._time += PATIENCE_S
            return self._time
        if isinstance(operation, Read) and self._response is not None:
            return self._correlation_ids[operation.connection] + self._response[4:]
        return None


def recorded_broker(check: Check, versions: Versions) -> Broker:
    """Return a broker whose topics and groups have the names of the recordings."""
    return Broker(versions, f"conform-recorded-{check.name.replace('/', '-')}")


def recordings(area: str) -> dict[str, Recording]:
    """Return the recordings of an area's checks by name."""
    lines = map(json.loads, (FOLDER / f"{area}.jsonl").read_text().splitlines())
    versions = {name: (low, high) for name, (low, high) in next(lines)["versions"].items()}
    return {
        line["check"]: Recording(
            versions, [(kind, _result(kind, result)) for kind, result in line["steps"]]
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


def answered(api: str, nth: int, change: Callable[[bytes, int], bytes | Silence | None]) -> Answer:
    """Change the nth response to an API's requests (0 is the first).

    Args:
        api: the API's name.
        nth: which of its responses.
        change: gets the response and the version, and returns another response, None (the connection is
            closed) or Silence.
    """
    in_flight: dict[int, list[tuple[str, int]]] = {}
    count = 0

    def answer(operation: Operation[Any], result: Any) -> Any:
        nonlocal count
        if isinstance(operation, Write):
            for name, version in _requests(operation.data):
                in_flight.setdefault(operation.connection, []).append((name, version))
        elif isinstance(operation, Read) and isinstance(result, bytes):
            name, version = in_flight[operation.connection].pop(0)
            if name == api:
                count += 1
                if count == nth + 1:
                    return change(result, version)
        return result

    return answer


def closed(frame: bytes, version: int) -> None:
    """Close the connection in place of a response."""


def silence(frame: bytes, version: int) -> Silence:
    """Send nothing in place of a response."""
    return Silence()


def other_correlation_id(frame: bytes, version: int) -> bytes:
    """Change the correlation id of a response."""
    return b"\0\0\0\x63" + frame[4:]


def _requests(data: bytes) -> Iterator[tuple[str, int]]:
    if len(data) < 12 or int.from_bytes(data[:4], "big", signed=True) != len(data) - 4:
        return
    try:
        head = request_head(data[4:], 0, len(data) - 4)
    except ValueError:
        return
    if head.key in NAMES:
        yield NAMES[head.key], head.version


def with_fields(api: str, nth: int, fields: Mapping[str, Any]) -> Answer:
    """Change fields of the nth response to an API: paths such as `topics[0].name`, errors by name."""

    def change(frame: bytes, version: int) -> bytes:
        decoded = decode_frame(frame, "response", key=key_of(api), version=version)
        for path, value in fields.items():
            *parents, last = path_steps(path)
            target: Any = decoded.body
            for step in parents:
                target = target[step]
            code = CODES[value] if last == "error_code" else value
            assert target[last] != code, f"{path} is {value} in the recording"
            target[last] = code
        return encode_frame(decoded)[4:]

    return answered(api, nth, change)


async def record(address: str, checks: Sequence[Check]) -> dict[str, Any]:
    """Run checks on a broker, and return their recordings as JSON by name."""
    host, _, port = address.rpartition(":")
    versions = await Suite(lambda: Network((host, int(port)))).offered()
    lines = {}
    for check in checks:
        steps: list[Step] = []
        broker = recorded_broker(check, versions)
        try:
            async with Network((host, int(port)), observe=partial(_note, steps)) as network:
                await network.run(broker.run(check.run))
        finally:
            async with Network((host, int(port))) as network:
                await network.run(delete(broker.created, versions))
        lines[check.name] = {"check": check.name, "steps": steps}
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
