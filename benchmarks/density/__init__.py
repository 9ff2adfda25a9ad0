"""The density of each bug of the museum: how often the default chaos finds it."""
