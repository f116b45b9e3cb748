"""Which files of a folder that is followed are to be read: a note for each, by which Spark counts them.

Spark's file source takes each name once, but a ring of files (`tcpdump -W`) writes new captures by the same
names, and a file is called so before it is complete. So Spark watches the folder of notes. Notes are numbered
in the order in which files were found complete.
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
"""The folder of the notes, in the one of the tables."""


class Arrived(NamedTuple):
    """What of the noted files is still there."""

    paths: list[Path]
    gone: list[Path]
    """Files that were overwritten or deleted since."""


class Arrivals:
    """Notes which files of a folder are complete. All methods raise OSError.

    grown: called once with each file that has become longer since it was noted; the rest of it is not read.
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
        """Note the files that were completed since the last look."""
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
            os.utime(part, (number, number))  # Spark goes by that
            part.rename(self.notes / f"{number:09}")
            self._known.add(file.identity)
            self._noted[file.path] = note


def arrived(paths: Iterable[Path], folder: Path) -> Arrived:
    """Find the files of notes; a path that is not a note is the file. Raises OSError."""
    found = Arrived([], [])
    for path in sorted(paths):
        if path.parent.name != NOTES:
            (found.paths if path.exists() else found.gone).append(path)
            continue
        note = _read(path)
        file = Path(note["file"])
        if _identity(file) != note["identity"]:  # it may have been compressed
            places = (one.path for one in closed_files(folder) if one.identity == note["identity"])
            here = next(places, None)
            if here is None:
                found.gone.append(file)
                continue
            file = here
        found.paths.append(file)
    return found


def _identity(path: Path) -> str | None:
    try:
        return identity(path)
    except (FileNotFoundError, CaptureError):
        return None


def _read(note: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(note.read_text())
    return found
