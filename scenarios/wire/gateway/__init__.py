"""The sockets of an emulated cluster, and the parts between them and its brokers.

``gateway.py`` and ``connection.py`` are in the world: what they do follows from the inputs, with sockets or without.
``sockets.py`` is outside: Trio tasks that read and write, and know nothing of Kafka but the size before each frame.
"""
