"""Replica fetcher threads: how a follower gets what its leader has, and what becomes of a partition that cannot."""

from fetchers.manager import FetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import Connection, FollowerLog, InitialFetchState, LeaderEndPoint
from fetchers.quota import ReplicationQuota, ReplicationThrottle
from fetchers.replica import ReplicaFetcherManager

__all__ = [
    "Connection",
    "FetcherManager",
    "FetcherPolicies",
    "FollowerLog",
    "InitialFetchState",
    "LeaderEndPoint",
    "ReplicaFetcherManager",
    "ReplicationQuota",
    "ReplicationThrottle",
]
