"""What the report shows, a section a file; `barnabas.pipeline.report.registry` has their order."""
