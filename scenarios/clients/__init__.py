"""Who uses the cluster: producers, and the operator's tools."""

from scenarios.clients.operator import Operator
from scenarios.clients.producer import Producer
from scenarios.clients.workload import Workload

__all__ = ["Operator", "Producer", "Workload"]
