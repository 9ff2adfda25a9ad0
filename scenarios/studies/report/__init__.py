"""Reports: one self-contained HTML page about a data set, or about one run."""
