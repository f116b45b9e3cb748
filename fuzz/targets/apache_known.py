"""Whether each setting that a broker is given is one: it takes any, and most that it lacks do nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from barnabas.nearest import did_you_mean, nearest

_SLIP: Final = 0.9
"""So much an unknown setting is like a known one where it is a slip: plugins have settings of their own."""

_NEAR: Final = 0.75
"""So much where it may be one: names of settings have words in common."""

_CLASS: Final = re.compile(r"(?:\w+\.)+[A-Z]\w*")
"""Java's name of a class, as a setting has that of a plugin."""

_LISTENERS: Final = "listener.name."
"""So begin those of one listener (KIP-103, KIP-226)."""

_PLUGIN: Final = "; a plugin's is taken beside its class"


def unknown(settings: Mapping[str, str], known: Collection[str]) -> str:
    """The first that is none, in words; "" if there is none. A listener's passes, and what may be a plugin's
    where a plugin is given. known: none: nothing is.

    >>> unknown({"num.io.thread": "4"}, ["num.io.threads"])
    "no setting 'num.io.thread'; did you mean 'num.io.threads'?"
    >>> unknown({"x": "y"}, ["num.io.threads"])
    "no setting 'x'; a plugin's is taken beside its class"
    >>> unknown({"x": "y", "authorizer.class.name": "org.Mine"}, ["authorizer.class.name"])
    ''
    """
    plugin = any(name in known and _CLASS.fullmatch(value) for name, value in settings.items())
    for name in settings if known else ():
        if name in known or name.startswith(_LISTENERS):
            continue
        if not plugin or nearest(name, known, _SLIP) is not None:
            hint = did_you_mean(name, known) if nearest(name, known, _NEAR) else _PLUGIN
            return f"no setting {name!r}{hint}"
    return ""
