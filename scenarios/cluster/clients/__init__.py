"""The clients of the cluster: producers, consumers, and the operator's tools."""

from scenarios.cluster.clients.consumer import Consumer
from scenarios.cluster.clients.consuming import Consumption
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.producer import Producer
from scenarios.cluster.clients.workload import Workload

__all__ = ["Consumer", "Consumption", "Operator", "Producer", "Workload"]
