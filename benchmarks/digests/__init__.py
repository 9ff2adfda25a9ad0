"""Do all runs still give the same bytes? What a change of shape has to prove."""
