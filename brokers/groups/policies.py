"""The differences between the group coordinators of releases."""

from attrs import frozen


@frozen
class GroupPolicies:
    """The defaults are those of Kafka 2.3.

    Attributes:
        commits_judge_members: KAFKA-8487 (2.4): before the leader's SyncGroup the commit of a member that there is not,
            or of another generation, is refused for that. Earlier, any was answered with REBALANCE_IN_PROGRESS.
        heartbeats_while_syncing: KAFKA-10134 (2.7): a heartbeat between a member's JoinGroup and the leader's SyncGroup
            counts and is answered with NONE. Before, it was answered with REBALANCE_IN_PROGRESS, and the session went
            on to its end.
        static_member_stored: KAFKA-10284 (2.7): a static member that joins again gets its new member id only once that
            is in ``__consumer_offsets``. Before, the next coordinator knew the old id, and fenced the member.
        static_member_rebalances: KAFKA-9801 (2.5): a static member that joins again before the leader's SyncGroup
            starts the rebalance again. Before, it kept its generation, and the leader assigned to its old member id.
        syncs_time_out: KAFKA-12890 (2.8.1): members that have not sent their SyncGroup within the rebalance timeout are
            removed. Before, a group waited for a leader that went on with its heartbeats.
        expires_unsubscribed: KIP-496 (2.4): the offsets of a group with members expire, too, for topics that no member
            subscribes to.
        rebalance_keeps_offsets: KAFKA-13636 (2.8.2): they do so only while the group is stable. Before, the
            subscriptions of a rebalance that had not ended counted.
        unstable_offsets_wait: KIP-447 (2.5): a reader of committed offsets that asks for stable ones has to come again
            while a transaction may still change them. Before, it got what was committed last.
        validates_members: GroupCoordinator.validateCurrentMember (3.0): a member that names an instance id which its
            group does not know is refused, and one that commits in a transaction has to state its generation. Before,
            only JoinGroup looked for the instance id, and an instance id of another member was refused.
        empty_validates_members: 3.0 to 3.2 (KAFKA-14201): so is a member that commits without a generation while its
            group is Empty. Before and after, anyone may.
        rejoining_sets_timeouts: KAFKA-14009 (3.3.2): a member that joins again has the timeouts that it states. Before,
            it kept those of its first JoinGroup.
        hides_loading: KAFKA-9656 (2.6): a producer that does not know COORDINATOR_LOAD_IN_PROGRESS gets
            COORDINATOR_NOT_AVAILABLE instead for its offsets. Before, it got the error that it does not know.
        states_in_any_case: KAFKA-16095 (3.8): ListGroups finds states whatever the case of their names.
    """

    commits_judge_members: bool = False
    heartbeats_while_syncing: bool = False
    static_member_stored: bool = False
    static_member_rebalances: bool = False
    syncs_time_out: bool = False
    expires_unsubscribed: bool = False
    rebalance_keeps_offsets: bool = False
    unstable_offsets_wait: bool = False
    validates_members: bool = False
    empty_validates_members: bool = False
    rejoining_sets_timeouts: bool = False
    hides_loading: bool = False
    states_in_any_case: bool = False
