"""Files of certificates and keys named by the user: errors name the file and its problem in one line.

`name` is the option, or the environment variable, that names the file.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import NamedTuple

from barnabas.proxy.network.tls import reason
from barnabas.trouble import Trouble, os_errors


class Named(NamedTuple):
    """A file, and the option or variable that names it."""

    name: str
    path: Path

    def __str__(self) -> str:
        return f"{self.name} {self.path}"


def readable(name: str, path: Path | None) -> None:
    """Raise Trouble, naming the file, if it is unreadable; OpenSSL's message would not name it."""
    if path is None:
        return
    with os_errors(f"{name} {path}"), path.open("rb"):
        pass


def check_authority(name: str, path: Path | None) -> None:
    """Raise Trouble if a file of CAs can't verify certificates."""
    if path is not None:
        readable(name, path)
        try:
            ssl.create_default_context(cafile=path)
        except OSError as problem:
            raise Trouble(f"{name} {path}: {why(problem)}") from None


def load_pair(
    context: ssl.SSLContext, certificate: Named, key: Named | None, key_option: str
) -> None:
    """Load a certificate and its key. Raises Trouble.

    Args:
        context: Gets the certificate and the key.
        certificate: The file of the certificate.
        key: The file of the key; None: the key is in the certificate's file.
        key_option: The option that names the key's file, for an error message.
    """
    for each in filter(None, (certificate, key)):
        readable(*each)
    names = " ".join(str(each) for each in (certificate, key) if each is not None)
    try:
        context.load_cert_chain(certificate.path, None if key is None else key.path, password="")
    except OSError as problem:
        reason_text = why(problem)
        if isinstance(problem, ssl.SSLError) and problem.reason == "KEY_VALUES_MISMATCH":
            reason_text = "the key does not belong to the certificate"
        elif key is None and isinstance(problem, ssl.SSLError):
            reason_text += f"; is the key in another file? give {key_option}"
        raise Trouble(f"{names}: {reason_text}") from None


def why(problem: OSError) -> str:
    """Return what is wrong with a file of certificates."""
    if isinstance(problem, ssl.SSLError):
        if problem.reason in ("NO_START_LINE", "NO_CERTIFICATE_OR_CRL_FOUND", "PEM_LIB", None):
            return "no such certificate or key in PEM format (encrypted keys are not supported)"
        return reason(problem)
    return problem.strerror or str(problem)
