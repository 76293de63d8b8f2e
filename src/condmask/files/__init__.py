"""Read and write files: Parquet, Arrow and CSV."""
