"""Files of certificates and keys that a person names: what is wrong with one, in a line that names it.

`name` is the option, or the variable of the environment, that names the file.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import NamedTuple

from barnabas.proxy.network.tls import reason
from barnabas.trouble import Trouble


class Named(NamedTuple):
    """A file, and what names it."""

    name: str
    path: Path

    def __str__(self) -> str:
        return f"{self.name} {self.path}"


def readable(name: str, path: Path | None) -> None:
    """Raises Trouble if it can't be read: a message of OpenSSL's would not say which file it is about."""
    if path is None:
        return
    try:
        with path.open("rb"):
            pass
    except OSError as problem:
        raise Trouble(f"{name} {path}: {problem.strerror}") from None


def check_authority(name: str, path: Path | None) -> None:
    """Raises Trouble if nobody can be checked by the CAs of this file."""
    if path is not None:
        readable(name, path)
        try:
            ssl.create_default_context(cafile=path)
        except OSError as problem:
            raise Trouble(f"{name} {path}: {why(problem)}") from None


def load_pair(context: ssl.SSLContext, certificate: Named, key: Named | None, other: str) -> None:
    """Load a certificate and its key, if that is in another file; `other` would name it. Raises Trouble."""
    for each in filter(None, (certificate, key)):
        readable(*each)
    given = " ".join(str(each) for each in (certificate, key) if each is not None)
    try:
        context.load_cert_chain(certificate.path, None if key is None else key.path, password="")
    except OSError as problem:
        said = why(problem)
        if isinstance(problem, ssl.SSLError) and problem.reason == "KEY_VALUES_MISMATCH":
            said = "the key is not the certificate's"
        elif key is None and isinstance(problem, ssl.SSLError):
            said += f"; is the key in another file? give {other}"
        raise Trouble(f"{given}: {said}") from None


def why(problem: OSError) -> str:
    """What is wrong with a file of certificates."""
    if isinstance(problem, ssl.SSLError):
        if problem.reason in ("NO_START_LINE", "NO_CERTIFICATE_OR_CRL_FOUND", "PEM_LIB", None):
            return "no PEM file of the kind (encrypted keys are not read)"
        return reason(problem)
    return problem.strerror or str(problem)
