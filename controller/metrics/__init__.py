"""What a controller measures of itself, under Kafka's names (kafka-behaviour §9)."""

from controller.metrics.controller import ControllerMetrics, is_offline_by_leader, is_offline_by_state
from controller.metrics.events import EventMetrics

__all__ = ["ControllerMetrics", "EventMetrics", "is_offline_by_leader", "is_offline_by_state"]
