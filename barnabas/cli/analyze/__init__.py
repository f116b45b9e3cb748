"""`barnabas analyze`: tables and a report, on Spark."""
