"""The controller's metrics, under Kafka's names (kafka-behaviour §9)."""

from controller.metrics.controller_metrics import ControllerMetrics, is_offline_by_leader, is_offline_by_state

__all__ = ["ControllerMetrics", "is_offline_by_leader", "is_offline_by_state"]
