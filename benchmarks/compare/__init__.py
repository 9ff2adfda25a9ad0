"""The time that a comparison of thousands of runs takes."""
