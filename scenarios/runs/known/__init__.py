"""What releases do wrong by themselves, by subject: reasons that explain findings of runs."""
