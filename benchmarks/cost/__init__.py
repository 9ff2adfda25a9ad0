"""The estimated cost of sampled runs, beside what they take."""
