"""What the report shows, a section a file; `barnabas.pipeline.report.contents` has their order."""
