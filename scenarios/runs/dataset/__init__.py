"""The data set: the results of runs, as Parquet files that are only added to, and how they are read back."""
