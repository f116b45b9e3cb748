"""`barnabas analyze`: tables and a report, on Sail or Spark."""
