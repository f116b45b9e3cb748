"""Whether a cluster's workers can run our code, asked once before anything else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pyspark.errors import PySparkException
from pyspark.sql.functions import explode, udf

from pipeline.errors import UnavailableError
from pipeline.masters import Master
from pipeline.shipping import missing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TELLING: Final = re.compile(r"\[PYTHON_VERSION_MISMATCH\] *(.*)|(Cannot run program.*)")


def require(spark: SparkSession, master: Master, tasks: int) -> None:
    """Ask workers, in so many tasks, for what they lack. Raises UnavailableError."""
    # not by Arrow, which they may lack
    asked = udf(missing, "array<string>", useArrow=False)
    rows = spark.range(0, tasks, 1, tasks).select(explode(asked("id")).alias("name"))
    try:
        lacking = sorted({row["name"] for row in rows.collect()})
    except PySparkException as problem:
        raise UnavailableError(f"the workers of {master.url} can't: {_reason(problem)}") from None
    if lacking:
        raise UnavailableError(
            f"the workers of {master.url} lack {', '.join(lacking)}: install it there"
            f" (pip install {' '.join(lacking)})"
        )


def _reason(problem: Exception) -> str:
    """The line of a long message that says why."""
    text = str(problem)
    if matched := _TELLING.search(text):
        return str(matched[1] or matched[2])
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"\w*(\.\w+)*(Error|Exception)\b", line)]
    return (telling or lines or [type(problem).__name__])[-1][:300]
