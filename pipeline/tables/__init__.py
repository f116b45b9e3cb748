"""Tables on disk and as a data source: what tasks write, folders, Parquet, SQL."""
