"""Notes the complete files of a followed folder: a note has the files of one batch, and the batch's number.

A ring of files (`tcpdump -W`) writes new captures under the same names, so a file is known by its identity. A
note is written before its batch: a batch that was interrupted is repeated with the same files.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.files import private
from barnabas.captures.files.capture_folder import size_of
from barnabas.captures.files.closed_files import closed_files, identity
from barnabas.captures.files.pcapng import CaptureError

NOTES: Final = "_batches"
"""The folder of the notes, in the folder of the tables."""

AT_ONCE: Final = 8
"""The default for the most files of a batch."""


class NotedFiles(NamedTuple):
    """The files of a note that still exist."""

    paths: list[Path]
    gone: list[Path]
    """Files that were overwritten or deleted since."""


class Arrivals:
    """The notes of a folder's complete files. All methods raise OSError.

    `grown` is called once with each file that has become longer since it was noted; the additional bytes are
    not read. `at_once` is the most files of a note.
    """

    def __init__(
        self,
        folder: Path,
        out: Path,
        grown: Callable[[Path], None] = lambda _: None,
        at_once: int = AT_ONCE,
    ) -> None:
        self._notes, self._folder, self._grown, self._at_once = out / NOTES, folder, grown, at_once
        private.folder(self._notes)
        self._count = sum(1 for _ in self._notes.glob("[0-9]*"))
        notes = [note for number in range(self._count) for note in self._read(number)]
        self._known = {note["identity"] for note in notes}
        self._noted = {Path(note["file"]): note for note in notes}

    def look(self) -> None:
        """Note the files that were completed since the last call."""
        for path, note in [*self._noted.items()]:
            if (size := size_of(path)) != note["size"]:
                del self._noted[path]
                if size > note["size"] and _identity(path) == note["identity"]:
                    self._grown(path)
        closed = closed_files(self._folder, self._known)
        for begin in range(0, len(closed), self._at_once):
            files = closed[begin : begin + self._at_once]
            notes = [
                {"identity": name, "file": str(path), "size": size_of(path)} for name, path in files
            ]
            part = self._notes / ".part"
            part.write_text(json.dumps(notes))
            part.rename(self._note(self._count))
            self._count += 1
            self._known |= {file.identity for file in files}
            self._noted |= {path: note for (_, path), note in zip(files, notes, strict=True)}

    def batch(self, number: int) -> NotedFiles | None:
        """Return the files of a batch; None: it has no note yet."""
        if number >= self._count:
            return None
        files = NotedFiles([], [])
        for note in self._read(number):
            file = Path(note["file"])
            if _identity(file) == note["identity"]:
                files.paths.append(file)
                continue
            closed = closed_files(self._folder)  # it may have been compressed since
            renamed = [path for name, path in closed if name == note["identity"]]
            files.paths.extend(renamed)
            files.gone.extend([] if renamed else [file])
        return files

    def _note(self, number: int) -> Path:
        return self._notes / f"{number:09}"

    def _read(self, number: int) -> list[dict[str, Any]]:
        notes: list[dict[str, Any]] = json.loads(self._note(number).read_text())
        return notes


def _identity(path: Path) -> str | None:
    try:
        return identity(path)
    except (FileNotFoundError, CaptureError):
        return None
