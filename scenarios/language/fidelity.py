"""The two fidelities of a run: how much of it is simulated (docs/understand/sampled.md)."""

EXACT, SAMPLED = "exact", "sampled"
FIDELITIES = (EXACT, SAMPLED)
