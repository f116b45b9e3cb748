"""`barnabas analyze`: the command; its options are in `options.py`."""

from __future__ import annotations

import typer

from barnabas.cli.analyze.options import AnalyzeOptions
from barnabas.cli.console.help import examples
from barnabas.cli.console.parameters import takes

analyze_app = typer.Typer()


@analyze_app.command(
    "analyze",
    epilog=examples(
        "barnabas analyze run.pcapng --out analysis",
        "barnabas analyze captures/ 'more/*.pcap.gz' --out analysis",
        "barnabas analyze captures/ --out /shared/analysis --master spark://master:7077 "
        "--conf spark.executor.memory=4g",
        "barnabas analyze captures/ --out /shared/analysis --master sc://spark.example.org",
        "barnabas analyze run.pcapng --out analysis --json | jq .findings",
        "barnabas analyze run.pcapng --out analysis --tables packets,frames",
        "barnabas analyze captures/ --out analysis --set quality.gaps=0 --set quality.undecodable=10",
        "barnabas analyze run.pcapng --out analysis --skip heartbeats --skip joins",
        "barnabas analyze --follow captures/ --out analysis",
        "barnabas analyze --follow captures/ --out analysis --to-kafka broker:9092 --topic exchanges",
        "barnabas analyze --follow captures/ --out analysis --format delta",
        "barnabas analyze analysis --from-batch 0 --out added-0 --json | jq .next_batch",
    ),
)
@takes(AnalyzeOptions)
def analyze_command(options: AnalyzeOptions) -> int:
    """Create tables, analyses and an HTML report from captures of any size, on Sail or Spark.

    Exit code 1: there are errors or warnings, as in `barnabas check`, or a threshold is exceeded.
    """
    if options.from_batch is not None:
        from barnabas.cli.analyze.new_batches import analyze_added

        return analyze_added(options, options.from_batch)
    if options.follow:
        from barnabas.cli.analyze.follow import follow

        return follow(options)
    if options.elsewhere:
        from barnabas.cli.analyze.hadoop_paths import analyze_elsewhere

        return analyze_elsewhere(options)
    from barnabas.cli.analyze.analyze import analyze

    return analyze(options)
