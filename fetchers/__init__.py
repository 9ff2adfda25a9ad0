"""Fetcher threads: how a follower copies its leader's log, how a replica is copied to another log directory, and what
happens to partitions that fail."""

from fetchers.endpoints import ReplicaFetcherBlockingSend
from fetchers.failures import CorruptBatch, StorageError
from fetchers.manager import FetcherManager, ReplicaAlterLogDirsManager, ReplicaFetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState
from fetchers.quota import Quota, QuotaManagers, ReplicationQuotaManager, Throttle

__all__ = [
    "CorruptBatch",
    "FetcherManager",
    "FetcherPolicies",
    "InitialFetchState",
    "Quota",
    "QuotaManagers",
    "ReplicaAlterLogDirsManager",
    "ReplicaFetcherBlockingSend",
    "ReplicaFetcherManager",
    "ReplicationQuotaManager",
    "StorageError",
    "Throttle",
]
