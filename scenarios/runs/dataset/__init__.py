"""The data set: what runs leave behind, as Parquet files that only grow, and how they are read back."""
