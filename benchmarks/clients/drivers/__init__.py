"""Small applications, one for each client: a producer that sends numbered records, a consumer of a group.

Each is a program: ``DRIVER produce|consume SERVERS SECONDS RECORDS_PER_S``. It writes what it saw to standard output as
JSON, one object a line (``benchmarks.clients.history.Seen``), and ends by itself.

Those in Java and JavaScript also carry out several jobs in one process, as the tests of these clients ask:
``DRIVER jobs SERVERS``. Each line of standard input begins one, and they go on at the same time:

    produce name=NAME topic=TOPIC records=N partitions=N acks=0|1|all compression=NAME idempotent=true ordered=true
    consume name=NAME topic=TOPIC group=GROUP records=N session_ms=N heartbeat_ms=N
    allow N

A record's partition is its number modulo ``partitions``. ``allow`` holds every producer before record N until more are
allowed. ``ordered`` is for the clients in JavaScript: one call of send after the other, repeated until it succeeds. A
consumer ends once it has been given ``records``, or at the end of standard input.
"""
