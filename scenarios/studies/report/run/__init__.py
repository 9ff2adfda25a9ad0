"""The report of one run: pure functions from its trace to the data of a page, and the page."""
