"""Fetcher threads: how a follower gets what its leader has, how a replica gets to another log directory, and what
becomes of a partition that cannot."""

from fetchers.alter_log_dirs import ReplicaAlterLogDirsManager
from fetchers.failures import CorruptBatch, StorageError
from fetchers.manager import FetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import Connection, CurrentLogs, FollowerLog, InitialFetchState, LeaderEndPoint
from fetchers.quota import Quota, ReplicationQuota
from fetchers.quotas import BrokerQuotas, Throttle
from fetchers.replica import ReplicaFetcherManager

__all__ = [
    "BrokerQuotas",
    "Connection",
    "CorruptBatch",
    "CurrentLogs",
    "FetcherManager",
    "FetcherPolicies",
    "FollowerLog",
    "InitialFetchState",
    "LeaderEndPoint",
    "Quota",
    "ReplicaAlterLogDirsManager",
    "ReplicaFetcherManager",
    "ReplicationQuota",
    "StorageError",
    "Throttle",
]
