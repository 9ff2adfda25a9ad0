"""How often the default chaos finds each bug of the museum."""
