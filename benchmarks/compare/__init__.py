"""How long a comparison of thousands of runs takes."""
