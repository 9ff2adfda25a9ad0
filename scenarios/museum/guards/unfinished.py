"""Guards of what others wait for: answers, records, outcomes; of what leaders accept, and of their choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import evolve

from brokers.groups import handler as groups_handler
from brokers.groups.group import GroupMetadata, GroupState
from brokers.groups.group_metrics import GroupMetrics
from brokers.groups.member import MemberMetadata
from brokers.groups.rebalance import GroupRebalances
from brokers.partition.isr import AlterIsrItem
from brokers.replica_manager.alter_isr import ZkIsrManager
from brokers.requests import produce
from brokers.requests.admin_configs import ConfigsHandler
from brokers.requests.follower_session import FollowerSession
from brokers.requests.reader_session import ReaderSession
from controller.reassignment.by_api import ByApi
from controller.state_machines.leader_elections import LeaderElections
from emulator.protocol.errors import Errors
from emulator.protocol.groups.operations import DescribedGroup
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from emulator.protocol.znodes import LeaderAndIsr, state_path
from emulator.zookeeper.client.client_cnxn import ClientCnxn
from emulator.zookeeper.messages import SetData
from emulator.zookeeper.server.database import Database
from scenarios.museum.guards.guard import Guard, TakenOut, nothing


def _forgets_who_waits(_answer: Callable[..., None]) -> Callable[..., None]:
    def forgets(_self: GroupRebalances, member: MemberMetadata, _response: object) -> None:
        member.awaiting_join = None

    return forgets


def _lets_it_wait(_wake: Callable[..., None]) -> Callable[..., None]:
    def marks(self: ReaderSession, position: Any) -> None:
        self.mark_dirty(position)

    return marks


def _does_not_listen(_submit: Callable[..., None]) -> Callable[..., None]:
    def writes(self: ZkIsrManager, item: AlterIsrItem) -> None:
        wanted = item.leader_and_isr
        self.zk.submit(SetData(state_path(item.tp), wanted.encode(), wanted.zk_version), lambda _response: None)

    return writes


def _alone(successor: Callable[..., LeaderAndIsr]) -> Callable[..., LeaderAndIsr]:
    def alone(self: LeaderElections, state: LeaderAndIsr, **changes: Any) -> LeaderAndIsr:
        found = successor(self, state, **changes)
        return evolve(found, isr=(found.leader,)) if "leader" in changes and found.leader >= 0 else found

    return alone


def _the_last_first(lost: Callable[..., None]) -> Callable[..., None]:
    def turns_them_round(self: ClientCnxn, reason: str) -> None:
        self._in_flight.reverse()
        lost(self, reason)

    return turns_them_round


def _one_more(refusal: Callable[..., Errors]) -> Callable[..., Errors]:
    return lambda partition, acks, least: refusal(partition, acks, least + 1)


def _empty(described: Callable[..., DescribedGroup]) -> Callable[..., DescribedGroup]:
    return lambda group: described(group)._replace(state=str(GroupState.EMPTY))


def _lists_nothing(_listed: Callable[..., ListPartitionReassignmentsResponse]) -> Callable[..., object]:
    def lists(_self: ByApi, _request: ListPartitionReassignmentsRequest) -> ListPartitionReassignmentsResponse:
        return ListPartitionReassignmentsResponse(Errors.NONE)

    return lists


async def _writes_nothing(_self: ConfigsHandler, *_of: Any) -> None:
    pass


def _does_not_count(_removed: Callable[..., None]) -> Callable[..., None]:
    def removes(self: GroupMetrics, group: GroupMetadata) -> None:
        self.changes(group)

    return removes


GUARDS = (
    Guard(
        name="controller_answers_true",
        title="a controller lists no moves",
        here="ListPartitionReassignments is answered as if no move were under way.",
        taken_out=(TakenOut(owner=ByApi, function="listed", instead=_lists_nothing),),
    ),
    Guard(
        name="descriptions_true",
        title="a description of a group has another state",
        here="DescribeGroups says that a group with members is empty.",
        taken_out=(TakenOut(owner=groups_handler, function="described", instead=_empty),),
    ),
    Guard(
        name="settings_written",
        title="a broker answers a change of settings that it has not written",
        here="AlterConfigs is answered without an error, and ZooKeeper has the settings from before.",
        taken_out=(TakenOut(owner=ConfigsHandler, function="_write", instead=lambda _write: _writes_nothing),),
    ),
    Guard(
        name="counts_true",
        title="a coordinator goes on counting the groups that it has given up",
        here="A broker that does not lead the partition of a group any more shows NumGroups as before.",
        taken_out=(TakenOut(owner=GroupMetrics, function="removed", instead=_does_not_count),),
    ),
    Guard(
        name="meters_true",
        title="a broker forgets to count what its followers are sent",
        here="ReplicationBytesOutPerSec of a leader stays 0.",
        taken_out=(TakenOut(owner=FollowerSession, function="_measure", instead=nothing),),
    ),
    Guard(
        name="leaders_accept",
        title="a leader wants one replica more in sync than it has to",
        here="A leader refuses batches with acks=all while its ISR has just min.insync.replicas members.",
        taken_out=(TakenOut(owner=produce, function="refusal", instead=_one_more),),
    ),
    Guard(
        name="requests_answered",
        title="a coordinator forgets who waits for the end of a rebalance",
        here="The members of a group have joined, and the coordinator forms a generation of them without answering.",
        taken_out=(TakenOut(owner=GroupRebalances, function="answer_join", instead=_forgets_who_waits),),
    ),
    Guard(
        name="fetches_complete",
        title="an append wakes no fetch",
        here="A follower's fetch that waits at its leader is answered when its time is over, though there are records "
        "since. Producers with acks=all wait for up to replica.fetch.wait.max.ms.",
        taken_out=(TakenOut(owner=ReaderSession, function="wake", instead=_lets_it_wait),),
    ),
    Guard(
        name="isr_changes_end",
        title="a leader does not hear what ZooKeeper has answered",
        here="A leader that has written an ISR goes on waiting for the outcome, and changes its ISR no more.",
        also=("broker_remembers", "controller_remembers", "notifications_taken"),
        taken_out=(TakenOut(owner=ZkIsrManager, function="submit", instead=_does_not_listen),),
    ),
    Guard(
        name="sessions_end",
        title="the ephemeral znodes of a session outlive it",
        here="ZooKeeper ends a session and leaves its ephemeral znodes: a dead broker stays registered.",
        taken_out=(TakenOut(owner=Database, function="remove_ephemerals", instead=nothing),),
    ),
    Guard(
        name="elects_in_order",
        title="an election makes the leader the only member of the ISR",
        here="A controller that elects a leader leaves no other replica in the ISR. The others join again.",
        taken_out=(TakenOut(owner=LeaderElections, function="successor", instead=_alone),),
    ),
    Guard(
        name="asks_in_order",
        title="requests that are sent again come in the reverse order",
        here="A client that has lost its connection to ZooKeeper sends what was not answered again, the last first.",
        taken_out=(TakenOut(owner=ClientCnxn, function="_lost", instead=_the_last_first),),
    ),
)
