"""Puts the floors together: a world with ZooKeeper, brokers, an operator and producers in it."""
