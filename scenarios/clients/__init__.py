"""Who uses the cluster: producers, consumers, and the operator's tools."""

from scenarios.clients.consumer import Consumer
from scenarios.clients.consuming import Consumption
from scenarios.clients.operator import Operator
from scenarios.clients.producer import Producer
from scenarios.clients.workload import Workload

__all__ = ["Consumer", "Consumption", "Operator", "Producer", "Workload"]
