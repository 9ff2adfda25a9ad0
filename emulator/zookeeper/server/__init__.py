"""The server half: sessions, the znode tree, watches."""

from emulator.zookeeper.server.ensemble import ZooKeeper
from emulator.zookeeper.server.tree import Tree

__all__ = ["Tree", "ZooKeeper"]
