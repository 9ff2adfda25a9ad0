"""A failing run's answer."""
