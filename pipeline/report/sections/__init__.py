"""What the report shows, a section a file; `pipeline.report.contents` has their order."""
