"""Recorded results of each check on Apache Kafka 4.3.1, and wrong answers made of them.

`python -m tests.conform.recordings HOST:PORT [PATTERN...]` records checks anew. A file's first line has the
versions that the broker offered; recordings of another release have their own. The environment variable
RESTART has the command that restarts the broker. If the environment variable SASL is set, the listener lets
in CREDENTIALS only.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import struct
import sys
import time
import zlib
from collections import Counter, defaultdict
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
from barnabas.conform.login import Login, no_login
from barnabas.conform.network import Network
from barnabas.conform.operations import Now, Operation, Read, Silence, Unreachable, Write
from barnabas.conform.run import CannotRun, Suite
from barnabas.conform.verdicts import Failed, Skipped, Unprepared
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.frames import decode_frame, encode_frame
from barnabas.specs.registry import NAMES, key_of

FOLDER: Final = Path(__file__).parent / "recorded"

LONG: Final = 4096
"""Longer frames, in bytes, are written compressed."""

CREDENTIALS: Final = Credentials("PLAIN", "conform", "open-sesame")
"""With these, runs of checks log in that were recorded on a listener with SASL."""

Step = tuple[str, Any]
"""The kind of an operation, and its result."""


CLOSED: Final = "closed"
"""In the place of an API: a connection that the broker closed."""

Change = Callable[[bytes, int], bytes | Silence | None]
"""Gets a response and its version, and returns another one, None (closed) or Silence."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A response that violates a requirement, in place of a recorded one."""

    api: str
    nth: int | None
    """Which response of the API: 0 is the first, -1 the last, None each."""
    change: Change
    """Returns the response itself where it has nothing to change."""
    match: int | None = None
    """Which of the responses that `change` changes (0 is the first), None each."""
    delay_s: float = 0
    """How much later the response arrives; less than 0: earlier."""


PATIENCE_S: Final = 60.0
"""How far the clock goes on in each step behind the recording, so that deadlines pass."""


class Drift(Exception):
    """The check performs other operations than were recorded."""


class Recording:
    """The results of one check, with the versions that the broker offered."""

    def __init__(
        self, versions: Versions, prefix: str, steps: list[Step], login: Login = no_login
    ) -> None:
        self.versions = versions
        self.prefix = prefix
        self.steps = steps
        self.login = login

    def run(self, check: Check, wrong: Wrong | None = None) -> None:
        """Run a check on the recording. Raises what the check raises, and Drift.

        Args:
            check: the check.
            wrong: replaces a response; a check that continues gets its last response again.
        """
        player = self._play(check, None, None)
        if wrong is not None:
            count = player.responses[wrong.api]
            nth = wrong.nth
            if nth is not None:
                nth += count if nth < 0 else 0
                assert 0 <= nth < count, f"no response {nth} of {wrong.api}"
            self._play(check, wrong, nth)

    def _play(self, check: Check, wrong: Wrong | None, nth: int | None) -> _Player:
        player = _Player(self.steps, wrong, nth)
        drive(Broker(self.versions, self.prefix, self.login).run(check.run), player.perform)
        return player


class _Player:
    """Returns the recorded results of operations."""

    def __init__(self, steps: list[Step], wrong: Wrong | None, nth: int | None) -> None:
        self.responses: Counter[str] = Counter()
        self._steps = iter(steps)
        self._wrong = wrong
        self._nth = nth
        self._changed = 0
        """How many responses the wrong answer has changed."""
        self._time: float = 0.0
        self._delay: float = 0.0
        self._in_flight: dict[int, dict[bytes, tuple[str, int]]] = defaultdict(dict)
        """Connection -> correlation id -> API and version of its requests."""
        self._sent: dict[int, bytearray] = defaultdict(bytearray)
        """Connection -> what was sent of an incomplete request."""
        self._response: bytes | None = None

    def perform(self, operation: Operation[Any]) -> Any:
        """Return the result of an operation."""
        if isinstance(operation, Write):
            self._sent[operation.connection] += operation.data
            self._in_flight[operation.connection] |= _requests(self._sent[operation.connection])
        kind, result = next(self._steps, ("", None))
        if not kind and self._wrong is not None:
            return self._again(operation)
        if kind != type(operation).__name__:
            raise Drift(f"the check performs {operation}; recorded: {kind or 'nothing more'}")
        if isinstance(operation, Read) and not isinstance(result, Silence):
            return self._answer(operation.connection, result)
        if isinstance(operation, Now):
            self._time = float(result or 0) + self._delay
            return self._time
        return result

    def _answer(self, connection: int, response: bytes | None) -> bytes | Silence | None:
        api, version = CLOSED, 0
        if response is not None:
            api, version = self._in_flight[connection].pop(response[:4], ("", 0))
        self.responses[api] += 1
        result: bytes | Silence | None = response
        if self._wrong is not None and api == self._wrong.api:
            result = self._replaced(self._wrong, response or b"", version, self.responses[api] - 1)
        if isinstance(result, bytes):
            self._response = result
        return result

    def _replaced(
        self, wrong: Wrong, response: bytes, version: int, nth: int
    ) -> bytes | Silence | None:
        if self._nth not in (None, nth):
            return response
        result = wrong.change(response, version)
        if self._nth is None and result is response:
            return response
        self._changed += 1
        if wrong.match not in (None, self._changed - 1):
            return response
        self._delay = wrong.delay_s
        return result

    def _again(self, operation: Operation[Any]) -> Any:
        if isinstance(operation, Now):
            self._time += PATIENCE_S
            return self._time
        if isinstance(operation, Read) and self._response is not None:
            in_flight = self._in_flight[operation.connection]
            correlation_id = next(iter(in_flight))
            del in_flight[correlation_id]
            return correlation_id + self._response[4:]
        return None


def recordings(area: str) -> dict[str, Recording]:
    """Return the recordings of an area's checks by name."""
    first, *lines = map(json.loads, (FOLDER / f"{area}.jsonl").read_text().splitlines())
    return {
        line["check"]: Recording(
            _versions(line.get("versions", first["versions"])),
            line["prefix"],
            [(kind, _result(kind, result)) for kind, result in line["steps"]],
            Login(CREDENTIALS) if line.get("sasl") else no_login,
        )
        for line in lines
    }


def _versions(written: Mapping[str, Sequence[int]]) -> Versions:
    return {name: (low, high) for name, (low, high) in written.items()}


def _result(kind: str, written: Any) -> Any:
    if written in ("silence", "unreachable"):
        return Silence() if written == "silence" else Unreachable()
    if isinstance(written, dict):
        return zlib.decompress(bytes.fromhex(written["zlib"]))
    return bytes.fromhex(written) if kind == "Read" and written is not None else written


def _written(result: Any) -> Any:
    if isinstance(result, Silence | Unreachable):
        return type(result).__name__.lower()
    if isinstance(result, bytes) and len(result) > LONG:
        return {"zlib": zlib.compress(result, 9).hex()}
    return result.hex() if isinstance(result, bytes) else result


def stays_open(nth: int | None = 0) -> Wrong:
    """Keep a connection open that the broker has closed; None: each."""
    return Wrong(CLOSED, nth, silence)


def closed(frame: bytes, version: int) -> None:
    """Close the connection in place of a response."""


def silence(frame: bytes, version: int) -> Silence:
    """Send nothing in place of a response."""
    return Silence()


def other_correlation_id(frame: bytes, version: int) -> bytes:
    """Change the correlation id of a response."""
    return b"\0\0\0\x63" + frame[4:]


def _requests(sent: bytearray) -> Iterator[tuple[bytes, tuple[str, int]]]:
    """Take whole requests from the bytes sent, and yield correlation id, API and version of each."""
    while len(sent) >= 4:
        size = int.from_bytes(sent[:4], "big", signed=True)
        if size < 8:
            sent.clear()
        if len(sent) < 4 + size or not sent:
            return
        frame = bytes(sent[4 : 4 + size])
        del sent[: 4 + size]
        key, version = struct.unpack(">hh", frame[:4])
        yield frame[4:8], (NAMES.get(key, ""), version)


def with_body(api: str, nth: int | None, edit: Callable[[Any], None]) -> Wrong:
    """Change the decoded body of a response; `edit` changes it in place."""

    def change(frame: bytes, version: int) -> bytes:
        decoded = decode_frame(frame, "response", key=key_of(api), version=version)
        edit(decoded.body)
        changed = encode_frame(decoded)[4:]
        assert nth is None or changed != frame, "the recording has these values"
        return frame if changed == frame else changed

    return Wrong(api, nth, change)


def with_fields(api: str, nth: int, fields: Mapping[str, Any]) -> Wrong:
    """Change fields of a response: paths such as `topics[0].name`, errors by name."""

    def edit(body: Any) -> None:
        for path, value in fields.items():
            *parents, last = path_steps(path)
            target: Any = body
            for step in parents:
                target = target[step]
            code = CODES[value] if str(last).endswith("error_code") else value
            assert target[last] != code, f"{path} is {value} in the recording"
            target[last] = code

    return with_body(api, nth, edit)


async def record(
    address: str, checks: Sequence[Check], restart: str = "", login: Login = no_login
) -> dict[str, Any]:
    """Run checks on a broker, and return their recordings as JSON by name.

    Args:
        address: the broker's address.
        checks: the checks.
        restart: a shell command that restarts the broker; empty if there is none.
        login: authenticates connections.
    """

    async def restarted() -> None:
        await (await asyncio.create_subprocess_shell(restart)).wait()

    host, _, port = address.rpartition(":")
    versions = await Suite(lambda _: Network((host, int(port)))).offered()
    lines = {}
    for check in checks:
        steps: list[Step] = []
        broker = Broker(
            versions, f"conform-{secrets.token_hex(4)}", login, round(time.time() * 1000)
        )
        try:
            async with Network(
                (host, int(port)),
                restart=restarted if restart else None,
                observe=partial(_note, steps),
            ) as network:
                await network.run(broker.run(check.run))
        except (Failed, Skipped, Unprepared, Unreachable) as problem:
            print(f"{check.name}: not recorded: {problem}", file=sys.stderr)
            continue
        finally:
            async with Network((host, int(port))) as network:
                await network.run(delete(broker.created, versions, login))
        sasl = {"sasl": True} if login.credentials is not None else {}
        lines[check.name] = {"check": check.name, "prefix": broker.prefix, **sasl, "steps": steps}
    return {"": {"versions": versions}, **lines}


def _note(steps: list[Step], operation: Operation[Any], result: Any) -> None:
    steps.append((type(operation).__name__, _written(result)))


def main(address: str, *patterns: str) -> None:
    """Record checks, and write them into the files of their areas."""
    login = Login(CREDENTIALS) if "SASL" in os.environ else no_login
    restart = os.environ.get("RESTART", "")
    made = json.loads(json.dumps(asyncio.run(record(address, chosen(patterns), restart, login))))
    for area in {name.partition("/")[0] for name in made if name}:
        path = FOLDER / f"{area}.jsonl"
        lines = {}
        if path.exists():
            lines = {line.get("check", ""): line for line in map(json.loads, path.open())}
        first = lines.setdefault("", made[""])
        if first["versions"] != made[""]["versions"]:
            for line in made.values():
                line["versions"] = made[""]["versions"]
        lines |= {name: line for name, line in made.items() if name.partition("/")[0] == area}
        path.write_text("".join(f"{json.dumps(lines[name])}\n" for name in sorted(lines)))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m tests.conform.recordings HOST:PORT [PATTERN...]")
    try:
        main(*sys.argv[1:])
    except CannotRun as problem:
        sys.exit(f"can't check the broker: {problem}")
    except LookupError as problem:
        sys.exit(f"no such check: {problem}")
