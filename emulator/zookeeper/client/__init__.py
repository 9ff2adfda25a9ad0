"""The client half: one session of one process."""

from emulator.zookeeper.client.zk_client import ZkClient

__all__ = ["ZkClient"]
