"""Replica fetcher threads: how a follower gets what its leader has, and what becomes of a partition that cannot."""

from fetchers.manager import FetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import FollowerLog, InitialFetchState, LeaderEndPoint

__all__ = ["FetcherManager", "FetcherPolicies", "FollowerLog", "InitialFetchState", "LeaderEndPoint"]
