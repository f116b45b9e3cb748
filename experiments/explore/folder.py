"""The folder of an exploration's results, with which an interrupted exploration continues.

    exploration.json    its parameters: the command, the cluster, the faults
    recording.jsonl     the exchanges of the run without faults
    results.jsonl       a line for each run, the recording first (k = 0); the last line of a name counts
    scenarios/          the scenario of each run
    runs/NAME/          history.jsonl and output.txt of the recording and of failing runs

The selection of faults (`--api`, `--limit` ...) may change from one call to the next; the parameters of a run
may not.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from barnabas.captures.files import private
from barnabas.experiments.explore.recording import RecordedExchange
from barnabas.experiments.explore.result import Result

VERSION: Final = 1
Line = TypeVar("Line", RecordedExchange, Result)
_SEEN: Final = TypeAdapter(RecordedExchange)
_RESULT: Final = TypeAdapter(Result)


class FolderError(ValueError):
    """A folder can't be used; the message is the reason."""


class Folder:
    """The folder of an exploration, locked against other processes."""

    def __init__(self, path: Path, parameters: dict[str, Any]) -> None:
        """Open and lock a folder.

        Args:
            path: the folder.
            parameters: parameters of the exploration, which must not change.

        Raises:
            FolderError: It is in use, or holds something else.
            OSError: It can't be read or written.
        """
        self.path = path
        if path.exists() and not (path / "exploration.json").exists() and any(path.iterdir()):
            raise FolderError(f"{path} is not empty and holds no exploration; choose another --out")
        private.folder(path)
        (path / "scenarios").mkdir(exist_ok=True)
        self._lock = (path / "exploration.json").open("a+", encoding="utf-8")
        try:
            self._open(parameters)
        except BaseException:
            self._lock.close()
            raise

    def _open(self, parameters: dict[str, Any]) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderError(f"{self.path} is in use by another exploration") from None
        self.results: dict[str, Result] = {
            result.scenario: result for result in self._read("results.jsonl", _RESULT)
        }
        """Results by the name of the scenario's file; the recording's is empty."""
        self.recording: list[RecordedExchange] = self._read("recording.jsonl", _SEEN)
        self._same({"version": VERSION, **parameters})
        recorded = self.results.get("")
        lacks = recorded and (
            not self.recording
            or (recorded.history and not self.run("").joinpath("history.jsonl").exists())
        )
        if lacks:
            raise FolderError(f"{self.path} lacks files of its recording; choose another --out")

    def _same(self, parameters: dict[str, Any]) -> None:
        self._lock.seek(0)
        before = self._lock.read()
        if not self.results or not before:  # nothing is recorded: it may still become another one
            self._lock.truncate(0)
            self._lock.write(json.dumps(parameters, indent=2) + "\n")
            self._lock.flush()
            return
        try:
            known = json.loads(before)
        except (ValueError, RecursionError):
            known = None
        if not isinstance(known, dict):
            raise FolderError(
                f"{self.path / 'exploration.json'} can't be read: choose another --out"
            )
        for name in {**known, **parameters}:
            if known.get(name) != parameters.get(name):
                raise FolderError(
                    f"{self.path} holds an exploration with another {name} "
                    f"({_short(known.get(name))}); choose another --out"
                )

    def _read(self, name: str, kind: TypeAdapter[Line]) -> list[Line]:
        """Return the parsed lines of a file; an incomplete last line is removed."""
        path = self.path / name
        if not path.exists():
            return []
        text = path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            path.write_bytes(whole)
        parsed = []
        for number, line in enumerate(whole.split(b"\n")[:-1], start=1):
            try:
                parsed.append(kind.validate_json(line))
            except ValidationError:
                raise FolderError(
                    f"{path}:{number}: not written by barnabas explore; choose another --out"
                ) from None
        return parsed

    def record(self, exchanges: Iterable[RecordedExchange], result: Result) -> None:
        """Store the recording: its exchanges before its result, so that the result implies the exchanges."""
        self.recording = list(exchanges)
        lines = "".join(exchange.model_dump_json() + "\n" for exchange in self.recording)
        (self.path / "recording.jsonl").write_text(lines, encoding="utf-8")
        self.add(result)

    def add(self, result: Result) -> None:
        """Store the result of a run; history and output of a passing run are removed."""
        self.results[result.scenario] = result
        with (self.path / "results.jsonl").open("a", encoding="utf-8") as file:
            file.write(result.model_dump_json() + "\n")
        if result.scenario and not result.failed:
            shutil.rmtree(self.run(result.scenario), ignore_errors=True)

    def scenario(self, name: str) -> Path:
        """Return the file of a scenario."""
        return self.path / "scenarios" / name

    def run(self, scenario: str) -> Path:
        """Return the folder of a run; for an empty name, of the recording."""
        return self.path / "runs" / (scenario.removesuffix(".yaml") or "recording")

    def close(self) -> None:
        """Unlock the folder."""
        self._lock.close()


def _short(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"
