"""The client half: one session of one process."""

from emulator.zookeeper.client.client import ZkClient

__all__ = ["ZkClient"]
