"""Bugs of brokers that receive a change of role."""

from scenarios.profiles.bug import Bug

BUGS = (
    Bug(
        ticket="KAFKA-9769",
        title="a broker that failed to change its role refuses the request that would repair it",
        affected="up to 2.6; fixed in 2.7.0",
        happened="A broker that becomes a follower reads the topic's settings from ZooKeeper. Where that failed, the "
        "new leader epoch was noted already: the same LeaderAndIsr was refused as old when it came again, for example "
        "from a new controller, and the replica was not fetched until the next election.",
        here="A change of role that a scenario makes fail leaves its leader epoch behind.",
        checker="converged",
        policies={"brokers.epoch_follows_role": False},
        trigger="a change of role that fails (broker.fail_start_replica), and no election afterwards",
        source="Partition.makeFollower, 2.6.0 and 2.7.0",
    ),
    Bug(
        ticket="KAFKA-9839",
        title="a broker refuses requests that carry a newer broker epoch than it knows",
        affected="2.2 to 2.5.0; fixed in 2.5.1",
        happened="The controller learns of a broker's registration by a watch, and may do so before the broker has "
        "the answer. What it sent then was refused, with an error that it does not act on: the broker led and "
        "followed nothing, or what it had before, until the next change.",
        here="A request with a higher broker epoch than the broker's own fails and has no effect.",
        checker="converged",
        also=("broker_epoch_fence", "metadata_kept"),
        policies={"brokers.accepts_newer_broker_epoch": False},
        trigger="the answer to a registration that is later than the controller",
        source="KafkaApis.isBrokerEpochStale, 2.5.0 and 2.5.1",
    ),
    Bug(
        ticket="KAFKA-1074",
        title="a replica that was moved away stays on the disk",
        affected="0.8.0; fixed in 0.8.1",
        happened="StopReplica did not delete logs yet. After a reassignment the old replicas stayed on the disks of "
        "their brokers, which it had often been meant to free.",
        here="StopReplica with deletion stops the replica and deletes nothing.",
        checker="converged",
        policies={"brokers.stop_deletes": False},
        source="ReplicaManager.stopReplica, 0.8.0 and 0.8.1",
    ),
    Bug(
        ticket="KAFKA-9254",
        title="brokers forget the settings of topics when those of all brokers change twice",
        affected="2.3.1 and 2.4.0, among others; fixed in 2.4.1",
        happened="A dynamic change of the brokers' settings made new settings for each log, and left out which of "
        "them were the topic's own. The next change took the brokers' values for all: min.insync.replicas, retention "
        "and the like of every topic were those of the broker, until the broker was restarted.",
        here="The second change of the settings of all brokers drops the settings of topics.",
        checker="acks_all_in_sync",
        policies={"brokers.keeps_topic_settings": False},
        source="DynamicLogConfig.reconfigure, 2.4.0 and 2.4.1",
    ),
    Bug(
        ticket="KAFKA-9654",
        title="a copy to another log directory fails for good when the leader epoch changes",
        affected="1.1 to 2.4; fixed in 2.5.0",
        happened="A copy between log directories names the leader epoch that it began under. After an election its "
        "own broker refused it, and the copy failed; the LeaderAndIsr that could have helped was over. Moves between "
        "disks stood still until the broker was restarted.",
        here="A LeaderAndIsr does not begin a copy again under the new epoch.",
        checker="converged",
        policies={"brokers.copies_follow_epochs": False},
        trigger="a copy to another log directory that is still under way when the leader epoch changes",
        source="ReplicaManager.becomeLeaderOrFollower, 2.4.1 and 2.5.0",
    ),
    Bug(
        ticket="KAFKA-8813",
        title="a setting that a topic gets as soon as it is created is lost",
        affected="up to 2.3; fixed in 2.4.0",
        happened="A broker that opens a log reads the topic's settings first, and the log takes part in later changes "
        "once it is open. A change that came in between, as when a tool creates a topic and then sets its "
        "min.insync.replicas, was lost until the broker was restarted.",
        here="Opening a log takes 100 ms, in which changes of the topic's settings are lost.",
        checker="acks_all_in_sync",
        policies={"brokers.misses_settings_us": 100_000},
        trigger="a higher min.insync.replicas within milliseconds of a topic's creation, and a minute later an "
        "ISR below it under acks=all",
        source="Partition.getOrCreateReplica, 2.3.1; Partition.createLog, 2.4.0",
    ),
)
