"""Where an exploration keeps what it has done, so that it goes on where it was interrupted.

    exploration.json    what it is: the command, the cluster, the faults
    recording.jsonl     the exchanges of the run without faults
    results.jsonl       a line a run, the recording first (k = 0); of two with one name the later counts
    scenarios/          a file a fault, as it ran
    runs/NAME/          history.jsonl and output.txt of the recording and of runs that failed

What selects among the faults (`--api`, `--limit` ...) may change from one call to the next; what makes
a run may not.
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
from barnabas.experiments.explore.recording import Seen
from barnabas.experiments.explore.result import Result

VERSION: Final = 1
Line = TypeVar("Line", Seen, Result)
_SEEN: Final = TypeAdapter(Seen)
_RESULT: Final = TypeAdapter(Result)


class FolderError(ValueError):
    """A folder can't be used, and why."""


class Folder:
    """The folder of an exploration; nobody else can open it meanwhile."""

    def __init__(self, path: Path, what: dict[str, Any]) -> None:
        """`what` makes the exploration: it must be the same each time. Raises FolderError, OSError."""
        self.path = path
        if path.exists() and not (path / "exploration.json").exists() and any(path.iterdir()):
            raise FolderError(f"{path} is not empty and holds no exploration; choose another --out")
        private.folder(path)
        (path / "scenarios").mkdir(exist_ok=True)
        self._lock = (path / "exploration.json").open("a+", encoding="utf-8")
        try:
            self._open(what)
        except BaseException:
            self._lock.close()
            raise

    def _open(self, what: dict[str, Any]) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderError(f"{self.path} is in use by another exploration") from None
        self.results: dict[str, Result] = {
            one.scenario: one for one in self._read("results.jsonl", _RESULT)
        }
        """By the name of the scenario's file; the recording's is empty."""
        self.recording: list[Seen] = self._read("recording.jsonl", _SEEN)
        self._same({"version": VERSION, **what})

    def _same(self, what: dict[str, Any]) -> None:
        self._lock.seek(0)
        before = self._lock.read()
        if not self.results or not before:  # nothing is recorded: it may still become another one
            self._lock.truncate(0)
            self._lock.write(json.dumps(what, indent=2) + "\n")
            self._lock.flush()
            return
        try:
            known = json.loads(before)
        except ValueError:
            raise FolderError(f"{self.path / 'exploration.json'} can't be read") from None
        for name in {**known, **what}:
            if known.get(name) != what.get(name):
                raise FolderError(
                    f"{self.path} holds an exploration with another {name} "
                    f"({_short(known.get(name))}); choose another --out"
                )

    def _read(self, name: str, kind: TypeAdapter[Line]) -> list[Line]:
        """The lines of a file; one whose end is missing was being written when we were killed."""
        path = self.path / name
        if not path.exists():
            return []
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        found = []
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                found.append(kind.validate_json(line))
            except ValidationError:
                raise FolderError(
                    f"{path}:{number}: not written by barnabas explore; choose another --out"
                ) from None
        return found

    def record(self, exchanges: Iterable[Seen], result: Result) -> None:
        """Keep the recording: its exchanges first, so that its result says that they are all there."""
        self.recording = list(exchanges)
        lines = "".join(one.model_dump_json() + "\n" for one in self.recording)
        (self.path / "recording.jsonl").write_text(lines, encoding="utf-8")
        self.add(result)

    def add(self, result: Result) -> None:
        """Keep what came of a run; history and output of one that was fine are removed."""
        self.results[result.scenario] = result
        with (self.path / "results.jsonl").open("a", encoding="utf-8") as file:
            file.write(result.model_dump_json() + "\n")
        if result.scenario and not result.failed:
            shutil.rmtree(self.run(result.scenario), ignore_errors=True)

    def scenario(self, name: str) -> Path:
        """The file of a scenario."""
        return self.path / "scenarios" / name

    def run(self, scenario: str) -> Path:
        """The folder of a run; that of the recording without a name."""
        return self.path / "runs" / (scenario.removesuffix(".yaml") or "recording")

    def close(self) -> None:
        """Let others open it."""
        self._lock.close()


def _short(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"
