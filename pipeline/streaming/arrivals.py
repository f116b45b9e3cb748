"""Notes the complete files of a followed folder, one note for each, for Spark's file source.

Spark's file source takes each name once, but a ring of files (`tcpdump -W`) writes new captures under the
same names, and a file has its name before it is complete. So Spark watches the folder of notes. Notes are
numbered in the order in which files were found complete.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.files import private
from barnabas.captures.files.capture_folder import size_of
from barnabas.captures.files.closed_files import closed_files, identity
from barnabas.captures.files.pcapng import CaptureError

NOTES: Final = "_arrivals"
"""The folder of the notes, in the folder of the tables."""


class NotedFiles(NamedTuple):
    """The noted files that still exist."""

    paths: list[Path]
    gone: list[Path]
    """Files that were overwritten or deleted since."""


class Arrivals:
    """The notes of a folder's complete files. All methods raise OSError.

    `grown` is called once with each file that has become longer since it was noted; the additional bytes are
    not read.
    """

    def __init__(
        self, folder: Path, out: Path, grown: Callable[[Path], None] = lambda _: None
    ) -> None:
        self.notes = out / NOTES
        self._folder = folder
        private.folder(self.notes)
        self._grown = grown
        notes = [_read(note) for note in self.notes.glob("[0-9]*")]
        self._known = {note["identity"] for note in notes}
        self._noted = {Path(note["file"]): note for note in notes}

    def look(self) -> None:
        """Note the files that were completed since the last call."""
        for path, note in [*self._noted.items()]:
            if (size := size_of(path)) != note["size"]:
                del self._noted[path]
                if size > note["size"] and _identity(path) == note["identity"]:
                    self._grown(path)
        for file in closed_files(self._folder, self._known):
            number = len(self._known) + 1
            part = self.notes / ".part"
            size = size_of(file.path)
            note = {"identity": file.identity, "file": str(file.path), "size": size}
            part.write_text(json.dumps(note))
            os.utime(part, (number, number))  # Spark sorts by it
            part.rename(self.notes / f"{number:09}")
            self._known.add(file.identity)
            self._noted[file.path] = note


def arrived(paths: Iterable[Path], folder: Path) -> NotedFiles:
    """Return the files of notes; a path that is no note is the file itself. Raises OSError."""
    files = NotedFiles([], [])
    for path in sorted(paths):
        if path.parent.name != NOTES:
            (files.paths if path.exists() else files.gone).append(path)
            continue
        note = _read(path)
        file = Path(note["file"])
        if _identity(file) != note["identity"]:  # it may have been compressed since
            places = (
                closed.path
                for closed in closed_files(folder)
                if closed.identity == note["identity"]
            )
            renamed = next(places, None)
            if renamed is None:
                files.gone.append(file)
                continue
            file = renamed
        files.paths.append(file)
    return files


def _identity(path: Path) -> str | None:
    try:
        return identity(path)
    except (FileNotFoundError, CaptureError):
        return None


def _read(note: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(note.read_text())
    return values
