"""Operations that wait for something to become true, and complete in the very step that makes it so."""

from brokers.purgatory.delayed_produce import DelayedProduce

__all__ = ["DelayedProduce"]
