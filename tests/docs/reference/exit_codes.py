"""The page of exit codes."""

from __future__ import annotations

from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, MISUSE
from tests.docs.reference.markdown import page, table

_INTERRUPTED = 130

_FINDINGS = (
    ("`demo`", "a claim of the demo is false"),
    ("`decode`", "a frame given as hex can't be decoded"),
    ("`check`, `analyze`, `explore`", "a problem in the capture or the program"),
    ("`conform`", "the broker fails a check"),
    ("`rehearse --check`", "a decision differs from the recorded one"),
    ("`diff`", "the captures differ"),
    ("`grep`", "the text was not found"),
    ("`replay`", "a response differs"),
    ("`serve`", "a client sent a request that was not recorded"),
    ("`scenario check --strict`", "a rule or a fault can never fire"),
    ("`fuzz run`, `fuzz report`", "there is a finding"),
    ("`fuzz replay`", "the case fails again, as recorded or in another way"),
    ("`fuzz states`", "a state machine has a deviation"),
    ("`fuzz bisect`", "a release shows the finding"),
    ("`clients run`, `clients rerun`", "a client did not behave as the table of clients expects"),
    ("`clients do`", "the client raised an error"),
)


def exit_codes() -> str:
    """The page."""
    rows = (
        (FINE, "success: nothing of the second table"),
        (FINDINGS, "findings: see the second table"),
        (
            MISUSE,
            "misuse: a wrong option or scenario, a port in use, a damaged file, a file that is not a "
            "capture (a capture that ends early is read, with a warning)",
        ),
        (
            COULD_NOT_RUN,
            "the command could not run: no Java, no broker, no disk space, your own check raised an "
            "exception, a damaged database of findings",
        ),
        (
            _INTERRUPTED,
            "interrupted by Ctrl-C. Exceptions: `fuzz run` and `explore` with findings exit with 1; "
            "commands that run until Ctrl-C (`proxy`, `top`, `peers start`, `analyze --follow`) exit "
            "with 0, or with 1 if there are findings",
        ),
    )
    return page(
        "Exit codes",
        "Errors are one line on stderr that says what to do. All commands use these codes:",
        table(("code", "meaning"), ((str(code), what) for code, what in rows)),
        "Exit code 1 means:",
        table(("command", "finding"), _FINDINGS),
        "Notes of `check` and `analyze` do not change the exit code.",
    )
