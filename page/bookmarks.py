"""Bookmarks on exchanges, with notes: kept in a file next to the capture, or in memory over live traffic."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.captures.files import private
from barnabas.page.exchanges import missing, number_of
from barnabas.proxy.control.bodies import json_response, read_text
from barnabas.proxy.control.history import History

SUFFIX: Final = ".bookmarks.json"
"""What the name of the file has after that of the capture."""

MOST: Final = 10_000
"""The most bookmarks."""

LONGEST: Final = 10_000
"""Characters of a note."""

LARGEST: Final = MOST * (LONGEST + 100) * 12
"""Bytes of a file: MOST notes that are LONGEST and their identities, each character as two escapes."""

VERSION: Final = 1
"""The version of the file's format."""


@dataclass(slots=True)
class Bookmarks:
    """The requests for bookmarks.

    Args:
        history: The exchanges.
        path: The file; None: bookmarks last as long as the page's server.
    """

    history: History
    path: Path | None = None
    _notes: dict[str, str] = field(init=False, default_factory=dict)
    """The note by the exchange's identity; an empty one is a bookmark alone."""
    _problem: str = field(init=False, default="")
    """Why the file can't be used."""
    _turn: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    """Held from reading the notes until the changed ones are stored."""

    def __post_init__(self) -> None:
        if self.path is None:
            return
        # a link to it stays a link; unlike Path.resolve, this takes links in circles
        self.path = Path(os.path.realpath(self.path))
        try:
            self._notes = _read(self.path)
        except FileNotFoundError:
            pass
        except OSError as problem:
            self._problem = f"can't read {self.path}: {problem.strerror}"
        except (ValueError, RecursionError):
            self._problem = f"{self.path} is no file of bookmarks: move it away, and start again"

    @property
    def routes(self) -> list[Route]:
        """Return the routes of the requests."""
        return [
            Route("/bookmarks", self.listed),
            Route("/bookmarks/{number}", self.put, methods=["PUT"]),
            Route("/bookmarks/{number}", self.delete, methods=["DELETE"]),
        ]

    async def listed(self, _: Request) -> Response:
        """Return the bookmarks on exchanges that are held, by number."""
        held, notes = self.history.kept(), self._notes

        def rows() -> Response:
            return json_response(
                [
                    {"number": number, "api": exchange.api, "note": notes[name]}
                    for number, exchange in (held if notes else ())
                    if (name := exchange.identity) in notes
                ]
            )

        return await asyncio.to_thread(rows)

    async def put(self, request: Request) -> Response:
        """Set a bookmark on an exchange; the body is the note."""
        note = (await read_text(request)).strip()
        if len(note) > LONGEST:
            raise HTTPException(413, f"a note has at most {LONGEST:,} characters")
        name = self._name(request)
        async with self._turn:
            if name not in self._notes and len(self._notes) >= MOST:
                raise HTTPException(409, f"there are {MOST:,} bookmarks already: remove one")
            return await self._change({**self._notes, name: note})

    async def delete(self, request: Request) -> Response:
        """Remove the bookmark of an exchange."""
        name = self._name(request)
        async with self._turn:
            notes = {key: note for key, note in self._notes.items() if key != name}
            return await self._change(notes)

    def _name(self, request: Request) -> str:
        number = number_of(request.path_params["number"], "exchange")
        exchange = self.history.get(number)
        if exchange is None:
            raise missing(number, self.history)
        return exchange.identity

    async def _change(self, notes: dict[str, str]) -> Response:
        """Store other bookmarks, first in the file, and return how many there are."""
        if self._problem:
            raise HTTPException(409, self._problem)
        if self.path is not None:
            text = json.dumps({"version": VERSION, "bookmarks": notes}, indent=2)
            try:
                await asyncio.to_thread(private.replace, self.path, f"{text}\n".encode())
            except OSError as problem:
                raise HTTPException(403, f"can't write {self.path}: {problem.strerror}") from None
        self._notes = notes
        return json_response({"bookmarks": len(notes)})


def _read(path: Path) -> dict[str, str]:
    """Return the bookmarks of a file.

    Raises:
        OSError: It can't be read.
        ValueError: It is no file of bookmarks of this version.
        RecursionError: It is nested too deep.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
        raise ValueError("no file, or a larger one than this program writes")
    document: Any = json.loads(path.read_text("utf-8"))
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise ValueError("no bookmarks, or of another version")
    notes = document.get("bookmarks")
    if not isinstance(notes, dict) or not all(isinstance(note, str) for note in notes.values()):
        raise ValueError("no bookmarks")
    return notes
