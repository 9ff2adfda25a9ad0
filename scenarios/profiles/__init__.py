"""What a scenario's profile, settings and strategy mean for each floor: the one place where releases have names."""

from scenarios.profiles.setup import cluster_setup, lacks_metrics

__all__ = ["cluster_setup", "lacks_metrics"]
