"""Operations that wait for something to become true, and complete in the very step that makes it so."""

from brokers.purgatory.delayed_produce import DelayedProduce
from brokers.purgatory.waiting_produces import WaitingProduces

__all__ = ["DelayedProduce", "WaitingProduces"]
