"""Where `barnabas ctl` finds a control port, and how it shows what that says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from barnabas.addresses import parse_address
from barnabas.cli.console.help import Group
from barnabas.cli.console.json_text import json_text
from barnabas.trouble import COULD_NOT_RUN, Trouble

if TYPE_CHECKING:
    from barnabas.control_client import Client


@dataclass(frozen=True, slots=True)
class Port:
    """A control port as the command line names it, and how its answers are shown."""

    control: str | None
    token: str | None
    token_file: Path | None
    as_json: bool

    @property
    def client(self) -> Client:
        """The client for it. Raises Trouble if it is not named, or its token can't be read."""
        from barnabas.control_client import Client

        if self.control is None:
            raise Trouble("which proxy? give --control; the proxy's ready line has it")
        token = self.token
        if token is None:
            if self.token_file is None:
                raise Trouble(
                    "which token? give --token or --token-file; the proxy's ready line has it"
                )
            token = read(self.token_file).decode("ascii", "replace").strip()
        if not token.isascii() or not token.isprintable():
            raise Trouble("a token is one line of ASCII characters")
        return Client(parse_address(self.control), token)

    def ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        """Send a request; the JSON that comes back. Raises Trouble."""
        with told():
            return self.client.ask(method, path, body)

    def tell(
        self,
        method: str,
        path: str,
        words: Callable[[Any], Iterable[str]],
        body: bytes | None = None,
    ) -> None:
        """Send a request, and show what comes back, to a person in these words. Raises Trouble."""
        found = self.ask(method, path, body)
        self.show(found, words(found))

    def show(self, found: Any, text: Iterable[str]) -> None:
        """Print what came back, as JSON or as lines for a person."""
        from barnabas.captures.kafka.wording import printable

        def lines() -> None:
            for line in map(printable, text):
                sys.stdout.write(line + "\n")

        self.print(found, lines)

    def print(self, found: Any, show: Callable[[], None]) -> None:
        """Print what came back as JSON, or let it be shown to a person."""
        if self.as_json:
            sys.stdout.write(json_text(found) + "\n")
        else:
            show()
        sys.stdout.flush()


@contextmanager
def told() -> Iterator[None]:
    """What the client raises, as Trouble."""
    from barnabas.control_client import Refused, Unreachable

    try:
        yield
    except Refused as problem:
        raise Trouble(str(problem)) from None
    except Unreachable as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None


OWN: Final = ("--control", "--token", "--token-file")
"""The options of the group that take a value."""


class AnyOrder(Group):
    """Takes the group's own options behind the command too: `ctl status --json`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Sort them: those of the group first. Behind `--` nothing is an option."""
        own: list[str] = []
        rest: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                rest += [word, *words]
            elif word == "--json" or word.partition("=")[0] in OWN:
                own.append(word)
                if word in OWN:
                    own += islice(words, 1)
            else:
                rest.append(word)
        return super().parse_args(ctx, [*own, *rest])


def read(file: Path) -> bytes:
    """What is in a file; `-` is stdin. Raises Trouble."""
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as problem:
        raise Trouble(f"can't read {file}: {problem.strerror}") from None
