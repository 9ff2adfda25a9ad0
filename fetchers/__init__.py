"""Replica fetcher threads: how a follower gets what its leader has, and what becomes of a partition that cannot."""

from fetchers.manager import FetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import FollowerLog, InitialFetchState, LeaderEndPoint
from fetchers.quota import ReplicationQuota, ReplicationThrottle

__all__ = [
    "FetcherManager",
    "FetcherPolicies",
    "FollowerLog",
    "InitialFetchState",
    "LeaderEndPoint",
    "ReplicationQuota",
    "ReplicationThrottle",
]
