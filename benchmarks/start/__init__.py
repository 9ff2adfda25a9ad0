"""The time that a short run takes from the shell, against the imports that no run can do without."""
