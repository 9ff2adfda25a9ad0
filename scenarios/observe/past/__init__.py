"""The cluster as folded from a run's events, once: what it is now, and what it was just after any earlier event.

``Past`` is the fold. ``Past.now`` is a ``ClusterState``, which checkers and measures ask while the run goes on;
``Past.at(seq)`` is another one, for those who explain a run when it is over. A question is one method of
``ClusterState``, in Kafka's words; one about a stretch of time, rather than about one moment, is a method of ``Past``.

One rule of order: the past takes in an event before all checkers and measures. Who handles an event finds in ``now``
what the event has made of the cluster. What was there before comes with the changes that the past announces
(``changes``), or by ``replaced``. A change is announced before the event that it was read from is seen by others.

Everything is read from events: ZooKeeper's writes for what the cluster agrees on, brokers' own events for what each of
them knows. Nothing here judges: what can be expected of a cluster, and what excuses a delay, is said elsewhere.
"""
