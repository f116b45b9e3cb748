"""The sections of the report, one file each; `barnabas.pipeline.report.registry` has their order."""
