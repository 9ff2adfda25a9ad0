"""Small applications, one for each client: a producer that sends numbered records, a consumer of a group.

Each is a program: ``DRIVER produce|consume SERVERS SECONDS RECORDS_PER_S``. It writes what it saw to standard output as
JSON, one object a line (``benchmarks.clients.history.Seen``), and ends by itself.
"""
