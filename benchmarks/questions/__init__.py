"""The time that a question about a recorded run takes from the shell, against the imports that none can do without."""
