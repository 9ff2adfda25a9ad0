"""Request and response between brokers: the world's tasks against four other ways to run the same model."""
