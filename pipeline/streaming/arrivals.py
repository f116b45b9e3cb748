"""Which files of a folder that is followed are to be read: a note for each, by which Spark counts them.

Spark's file source takes each name once, but a ring of files (`tcpdump -W`) writes new captures by the same
names, and a file is called so before it is complete. So Spark watches the folder of notes. Notes are numbered
in the order in which files were found complete.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.captures.files import private
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
    """Notes which files of a folder are complete. All methods raise OSError."""

    def __init__(self, folder: Path, out: Path) -> None:
        self.notes = out / NOTES
        self._folder = folder
        private.folder(self.notes)
        self._known = {_read(note)["identity"] for note in self.notes.glob("[0-9]*")}

    def look(self) -> None:
        """Note the files that were completed since the last look."""
        for file in closed_files(self._folder, self._known):
            number = len(self._known) + 1
            part = self.notes / ".part"
            part.write_text(json.dumps({"identity": file.identity, "file": str(file.path)}))
            os.utime(part, (number, number))  # Spark goes by that
            part.rename(self.notes / f"{number:09}")
            self._known.add(file.identity)


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


def _read(note: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(note.read_text())
    return found
