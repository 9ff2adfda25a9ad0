"""Puts the floors together: a world with ZooKeeper, brokers, an operator and producers in it."""

from scenarios.cluster.cluster import Cluster, ClusterSetup, TopicSetup

__all__ = ["Cluster", "ClusterSetup", "TopicSetup"]
