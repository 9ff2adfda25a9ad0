"""ZooKeeper's client protocol at the edge of the emulated ensemble, for the tools of the ZooKeeper era.

``jute.py`` and ``records.py`` are the bytes, ``payloads.py`` the contents of znodes, ``operations.py`` one operation at
a time, ``connection.py`` a client's connection in the world, ``ensemble.py`` the part that all connections share.
"""
