"""The control port as `barnabas ctl` finds it, and the printing of its responses."""

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
from barnabas.trouble import COULD_NOT_RUN, Trouble, os_errors

if TYPE_CHECKING:
    from barnabas.control_client import Client


@dataclass(frozen=True, slots=True)
class Port:
    """The control port of the command line, and the format in which its responses are printed."""

    control: str | None
    token: str | None
    token_file: Path | None
    as_json: bool

    @property
    def client(self) -> Client:
        """Return the port's client. Raises Trouble if the address is missing or the token is unavailable."""
        from barnabas.control_client import Client

        if self.control is None:
            raise Trouble("no proxy given: use --control; the proxy's ready line has its address")
        token = self.token
        if token is None:
            if self.token_file is None:
                raise Trouble(
                    "no token given: use --token or --token-file; the proxy's ready line has it"
                )
            token = read(self.token_file).decode("ascii", "replace").strip()
        if not token.isascii() or not token.isprintable():
            raise Trouble("a token is one line of ASCII characters")
        return Client(parse_address(self.control), token)

    def ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        """Send a request and return the JSON of the response. Raises Trouble."""
        with port_errors():
            return self.client.ask(method, path, body)

    def send(
        self,
        method: str,
        path: str,
        words: Callable[[Any], Iterable[str]],
        body: bytes | None = None,
    ) -> None:
        """Send a request and print the response. Raises Trouble.

        words: Makes the lines for output that is not JSON.
        """
        response = self.ask(method, path, body)
        self.show(response, words(response))

    def show(self, response: Any, text: Iterable[str]) -> None:
        """Print a response as JSON or as these lines."""
        from barnabas.captures.kafka.wording import printable

        def lines() -> None:
            for line in map(printable, text):
                sys.stdout.write(line + "\n")

        self.print(response, lines)

    def print(self, response: Any, show: Callable[[], None]) -> None:
        """Print a response as JSON, or call `show`."""
        if self.as_json:
            sys.stdout.write(json_text(response) + "\n")
        else:
            show()
        sys.stdout.flush()


@contextmanager
def port_errors() -> Iterator[None]:
    """Raise the errors of the control port's client as Trouble."""
    from barnabas.control_client import Refused, Unreachable

    try:
        yield
    except Refused as problem:
        raise Trouble(str(problem)) from None
    except Unreachable as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None


OWN: Final = ("--control", "--token", "--token-file")
"""The group's options with a value."""


class AnyOrder(Group):
    """A group whose own options may also follow the command: `ctl status --json`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Move the group's options to the front. After `--` nothing is an option."""
        group_words: list[str] = []
        other_words: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                other_words += [word, *words]
            elif word == "--json" or word.partition("=")[0] in OWN:
                group_words.append(word)
                if word in OWN:
                    group_words += islice(words, 1)
            else:
                other_words.append(word)
        return super().parse_args(ctx, [*group_words, *other_words])


def read(file: Path) -> bytes:
    """Return the bytes of a file; `-` is stdin. Raises Trouble."""
    with os_errors(f"can't read {file}"):
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
