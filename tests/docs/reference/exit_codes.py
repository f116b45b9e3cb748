"""The page of exit codes."""

from __future__ import annotations

from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, MISUSE
from tests.docs.reference.markdown import page, table

_INTERRUPTED = 130


def exit_codes() -> str:
    """The page."""
    rows = (
        (FINE, "fine"),
        (FINDINGS, "there are findings: see below"),
        (
            MISUSE,
            "misuse: a wrong option or scenario, a port in use, a file that is no capture or "
            "is damaged; one that ends early is read to its end, and that is said",
        ),
        (
            COULD_NOT_RUN,
            "the command could not run: no Java, no broker, no space, a check of yours that raises, "
            "a database of findings that is none or is damaged",
        ),
        (
            _INTERRUPTED,
            "interrupted by Ctrl-C; a `fuzz run` with findings ends with 1, and what runs until Ctrl-C "
            "(`proxy`, `peers start`, `analyze --follow`) as without",
        ),
    )
    return page(
        "Exit codes",
        "Errors are one line on stderr that says what to do. All commands use these codes:",
        table(("code", "meaning"), ((str(code), what) for code, what in rows)),
        "Findings (1) are: a claim of `demo` that did not hold; a frame that `decode` can't read; a "
        "decision that `rehearse --check` finds different; what `check`, `analyze`, `explore`, `fuzz run` "
        "or `fuzz report` finds wrong; what `fuzz replay` finds wrong again, or anew; what `fuzz states` "
        "finds wrong, and a finding that `fuzz bisect` sees on some release; captures that differ in "
        "`diff`; text that `grep` does not find; an answer that differs in `replay`; a request that `serve` "
        "has no answer to; a rule that does nothing with `scenario check --strict`; a client that does "
        "something else than it promises in `clients run` and `clients rerun`; one that raises an error in "
        "`clients do`. Notes of `check` and `analyze` are no findings.",
    )
