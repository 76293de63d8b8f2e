"""Files in, files out: Parquet, Arrow and CSV."""
