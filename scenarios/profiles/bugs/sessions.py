"""Bugs of ZooKeeper sessions: what expires with them, and what should."""

from scenarios.profiles.bug import Bug

BUGS = (
    Bug(
        ticket="KAFKA-1068",
        title="a controller that has resigned goes on showing offline partitions",
        affected="0.8.0 beta; fixed in 0.8.0",
        happened="OfflinePartitionsCount was computed from the memory of any broker that had ever been the controller. "
        "After a failover the old controller went on showing the offline partitions of the moment when it resigned, so "
        "that dashboards, which add all brokers up, showed an outage that was over.",
        here="The gauge of a controller that resigns keeps its value. The checker sees a broker that is not the "
        "controller and shows offline partitions.",
        checker="offline_true",
        policies={"controller.resigned_shows_offline": True},
        source="KafkaController, 0.8.0 beta and 0.8.0",
    ),
    Bug(
        ticket="KAFKA-7235",
        title="a broker that has restarted gets what was meant for its earlier incarnation",
        affected="up to 2.1; fixed in 2.2.0 (KIP-380)",
        happened="Broker ids were all that told incarnations apart. A controller that was late carried out the "
        "controlled shutdown of a broker that had ended and started again: it moved its leaderships away, sent it "
        "StopReplica, and thought that it was shutting down. A restart that was over before the controller looked "
        "was not noticed at all: nothing told the new incarnation to lead and to follow.",
        here="Requests bear no broker epochs and the controller compares none. The checker sees a broker that runs "
        "and never joins the ISR again.",
        checker="converged",
        policies={"controller.broker_epochs": False},
        source="KafkaController.processControlledShutdown and BrokerChange, KafkaApis.isBrokerEpochStale, 2.1.0 and "
        "2.2.0",
    ),
    Bug(
        ticket="KAFKA-4229",
        title="a broker handles two new sessions in the second one, and is a controller that does nothing",
        affected="up to 1.0; closed by the queue of 1.1.0 (KAFKA-5642)",
        happened="Sessions were made again in the background, and each new one was handled in its turn. When a "
        "broker was slow and its session expired twice, it handled both in the last one: first it was elected, then "
        "it resigned, found its own id in /controller, and took that for being the controller. It watched nothing "
        "any more; leaders were not replaced until its session expired again.",
        here="Each new session is an event in the controller's queue, and later ones drop nothing. The checker sees "
        "a partition that can be led and is not.",
        checker="led_in_time",
        also=("epochs_grow", "metadata_follows", "metadata_kept", "offline_true", "replicas_notified"),
        policies={"controller.sessions_in_turn": True},
        source="KafkaController.SessionExpirationListener and ZookeeperLeaderElector.elect, 0.10.1.0; the patch of "
        "the ticket; KafkaController, 1.1.0",
    ),
    Bug(
        ticket="KAFKA-1387",
        title="a broker waits for its own znode to go",
        affected="up to 0.8.2; fixed in 0.9.0.0",
        happened="A broker whose session had expired twice registered twice in the last one. The second time it "
        "found a znode in /brokers/ids with other data than its own, as the time in it differs, took it for one of "
        "an earlier session that ZooKeeper would remove, and waited for that without end; nothing else that "
        "ZooKeeper told it was handled meanwhile.",
        here="Each new session is handled in its turn, and a broker's own znode with other data is waited for. The "
        "checker sees a partition that can be led and is not, since the only controller waits.",
        checker="led_in_time",
        also=("metadata_follows", "replicas_notified"),
        policies={"controller.sessions_in_turn": True, "brokers.waits_for_own_registration": True},
        source="ZkUtils.createEphemeralPathExpectConflictHandleZKBug and KafkaHealthcheck, 0.8.2.1 and 0.9.0.0",
    ),
    Bug(
        ticket="KAFKA-6879",
        title="a controller waits for its new session, which waits for the controller",
        affected="1.1.0; fixed in 1.1.1 and 2.0.0",
        happened="When the session expired, the ZooKeeper client held the lock of its initialization until the "
        "controller's event thread had handled the expiry. The event that this thread was handling needed the same "
        "lock to ask ZooKeeper for more. Both waited for ever: the broker lived, was not registered, and served "
        "nothing.",
        here="What an event asks for in an expired session is never answered, and a new session waits for that "
        "event. The checker sees a broker that runs and is not registered.",
        checker="converged",
        policies={"controller.expiry_waits_for_event": True},
        trigger="a session that expires while its controller is between two requests of one event",
        source="ZooKeeperClient.reinitialize and handleRequests, KafkaController's StateChangeHandler, 1.1.0 and 1.1.1",
    ),
)
