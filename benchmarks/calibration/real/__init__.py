"""A real cluster on this machine: ZooKeeper and brokers as processes, and the little that an operator asks of them.

Needs Java 17 and Maven; nothing outside of ``record`` imports it.
"""
