"""The museum: bugs that Kafka had, each with a minimal scenario in which a checker sees it."""
