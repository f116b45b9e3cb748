"""The tables: written by tasks as Parquet, as Delta tables, as SQL, and as a Spark data source.

- `tables.py` writes a capture's tables; `spark_stages.py` runs the stages of reading on Spark or in this
  process.
- `capture_rows.py`, `decoded_bodies.py` and `quality.py` make rows; `schemas.py` has the columns of all
  tables.
- `folders.py` installs a run's tables atomically; `parquet.py` and `partitioned_parquet.py` write files.
- `delta.py` writes Delta tables; `added.py` reads what batches added.
- `spark_source.py` is the data source `barnabas`; `sql.py` writes SQL statements; `limits.py` checks quality
  limits.
- `analysis_tables.py` writes the tables of analyses.
"""
