"""The pages of columns (of the JSON log, and of the tables that `barnabas analyze` writes) and analyses."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.captures.kafka.columns import COLUMNS
from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.reading.packet_rows import WRITTEN
from barnabas.pipeline.reading.side_tables import CONNECTIONS, NOTES
from barnabas.pipeline.rows.columns import BODY_JSON, ERRORS, EXCHANGES, PARTITION, Column
from barnabas.pipeline.rows.frames import FRAMES
from barnabas.pipeline.rows.inside import INSIDE
from barnabas.pipeline.tables.quality import QUALITY
from barnabas.specs.jsonform import MOST
from tests.docs.reference.markdown import code, page, prose, table


def columns(found: Iterable[Column]) -> str:
    """A table of columns."""
    rows = ((code(one.name), one.type, prose(one.description)) for one in found)
    return table(("column", "type", "what it is"), rows)


def all_columns() -> str:
    """The page."""
    log = ((code(one.name), prose(one.description)) for one in COLUMNS)
    return page(
        "Columns of the log and of tables",
        "`--log json`, `barnabas decode --json` and `barnabas ctl exchanges --json` print a line for each "
        "exchange with these columns. `--filter` is [JMESPath](https://jmespath.org) over them.",
        table(("column", "what it is"), log),
        "Bytes in bodies are base64, a uuid has 22 characters, as Kafka writes it. The log, "
        f"`decode --json` and `grep --json` write a bytes field over {MOST:,} bytes as an object, "
        "unless `--bodies full`: `bytes` is its size, `sha256` its hash in hex. No bytes field is an "
        "object otherwise.",
        "Some lines have more: `payload` (hashes in place of what `--no-payload` took out), `inside` "
        "(messages within bytes fields), `context` (what earlier messages of the session or group say), "
        "`sasl` (mechanism, user and outcome of an authentication), `too_large` (bodies that are not "
        "decoded), `controller` (node id of the controller that was asked in place of a broker) and `note` "
        "(how an exchange without a response ended, such as `no response (acks=0)`, or which frame was cut "
        "off: `request cut off: 300 of 612 bytes, then the client closed (reset)`). `--filter` may name "
        "`note`, too, and `topics`: the list of the topics in both messages, by name, as in "
        "`contains(topics, 'orders')`.",
        "## Table exchanges",
        "A row for each exchange. Two columns follow: `body`, a VARIANT with `request` and `response`, and "
        f"{code(BODY_JSON.name)}: {BODY_JSON.description}.",
        columns(EXCHANGES),
        "### partitions",
        "An element of `partitions` is a struct.",
        columns(PARTITION),
        "## Table inside",
        "What lies within the bytes of bodies: a row for each message, and for each record of an "
        "internal topic or control record. The secrets of `decode --json` are withheld here, too.",
        columns(INSIDE),
        "## Table errors",
        "Parts of captures that could not be read.",
        columns(ERRORS),
        "## Table connections",
        columns(CONNECTIONS),
        "## Table notes",
        "What captures say of themselves.",
        columns(NOTES),
        "## Table quality",
        "How much was read: a row for each capture, of a folder that is followed for each capture and "
        "batch. `analyze --set quality.gaps=0` ends with 1 if there is more of it.",
        columns(QUALITY),
        "## Table packets",
        "With `--tables packets`.",
        columns(WRITTEN),
        "## Table frames",
        "With `--tables frames`.",
        columns(FRAMES),
    )


def analyses() -> str:
    """The page of analyses: the question of each, and the columns that answer it."""
    parts = []
    for one in ANALYSES:
        parts += [f"## {one.name}", prose(one.run.__doc__), columns(one.columns)]
    return page(
        "Analyses",
        "`barnabas analyze` writes a table for each into `analyses/` of its folder, and a section of the "
        "report is made of it.",
        *parts,
    )
