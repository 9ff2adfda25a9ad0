"""Random joins, syncs, heartbeats, leaves, commits, silences and moves of the coordinator, against what must hold."""

from attrs import define
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from brokers.groups.group import GroupState
from brokers.groups.policies import GroupPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.groups.membership import JoinGroupResponse, SyncGroupRequest, SyncGroupResponse
from tests.brokers.bench import Line
from tests.brokers.groups.bench import GROUP, SECOND, GroupBench

ALL_RULES = GroupPolicies(True, True, True, True, True)


@define(eq=False)
class Client:
    """A consumer, as far as its answers tell.

    Attributes:
        joining, syncing: the connection on which it waits.
        generation: -1: it belongs to none.
    """

    instance: str | None
    member: str = ""
    generation: int = -1
    leads: bool = False
    members: tuple[str, ...] = ()
    joining: Line | None = None
    syncing: Line | None = None

    @property
    def waits(self) -> bool:
        return self.joining is not None or self.syncing is not None

    def forget(self) -> None:
        self.member, self.generation, self.leads, self.members = "", -1, False, ()


class Groups(RuleBasedStateMachine):
    """One group at one coordinator."""

    @initialize(released=st.sampled_from([GroupPolicies(), ALL_RULES]))
    def begin(self, released: GroupPolicies) -> None:
        self.bench = GroupBench(released)
        self.clients = [Client(None), Client("instance"), Client(None)]
        self.protocols: dict[tuple[int, int], str | None] = {}
        self.epoch = 0
        self.offset = 0
        self.acknowledged = -1

    # -- what clients do ----------------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.clients) < 5)
    @rule(static=st.booleans())
    def start(self, static: bool) -> None:
        self.clients.append(Client(f"instance{len(self.clients)}" if static else None))

    def _pick(self, which: int, **wanted: bool) -> Client | None:
        found = [each for each in self.clients if all(getattr(each, name) is value for name, value in wanted.items())]
        return found[which % len(found)] if found else None

    @rule(which=st.integers(0, 9), first=st.sampled_from(["range", "sticky"]))
    def join(self, which: int, first: str) -> None:
        client = self._pick(which, waits=False)
        if client is not None:
            self.join_with(client, first)

    def join_with(self, client: Client, first: str) -> None:
        protocols = tuple((name, b"") for name in dict.fromkeys((first, "range", "sticky")))
        client.joining = self.bench.ask_join(
            client.member, client.instance, protocols=protocols, requires_member_id=client.instance is None
        )

    @rule(which=st.integers(0, 9))
    def sync(self, which: int) -> None:
        client = self._pick(which, waits=False)
        if client is not None:
            self.sync_with(client)

    def sync_with(self, client: Client) -> None:
        """A leader assigns to each member what tells the generation and the member."""
        if client.generation >= 0:
            tagged = tuple((each, f"{client.generation} {each}".encode()) for each in client.members)
            request = SyncGroupRequest(GROUP, client.generation, client.member, client.instance, tagged)
            client.syncing = self.bench.send(request)

    @rule(which=st.integers(0, 9))
    def heartbeat(self, which: int) -> None:
        client = self._pick(which, waits=False)
        if client is not None and client.generation >= 0:
            error = self.bench.heartbeat(client.member, client.generation, client.instance)
            if error in (Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION, Errors.FENCED_INSTANCE_ID):
                client.forget()

    @rule(which=st.integers(0, 9))
    def leave(self, which: int) -> None:
        client = self._pick(which, waits=False)
        if client is not None and client.member:
            self.bench.leave((client.member, client.instance) if client.instance else client.member)
            client.forget()

    @rule(which=st.integers(0, 9))
    def commit(self, which: int) -> None:
        client = self._pick(which, waits=False)
        if client is None or client.generation < 0:
            return
        self.offset += 1
        error = self.bench.commit(self.offset, client.member, client.generation, instance_id=client.instance)
        if not error:
            self.acknowledged = self.offset
            assert client.generation == self.bench.group.generation
            assert client.member in self.bench.group.members

    @rule(which=st.integers(0, 9))
    def restart(self, which: int) -> None:
        """A client ends without a word. A static one comes back as the same instance."""
        client = self._pick(which)
        if client is not None:
            self.clients[self.clients.index(client)] = Client(client.instance)

    @rule(order=st.permutations(range(5)), syncs=st.booleans(), first=st.sampled_from(["range", "sticky"]))
    def rebalance(self, order: list[int], syncs: bool, first: str) -> None:
        """All clients join, until they have, and then sync."""
        for _ in range(2):  # the first time they get their ids
            for which in order:
                if which < len(self.clients) and not self.clients[which].waits:
                    self.join_with(self.clients[which], first)
            self.answers_agree()
        self.time(8)
        self.answers_agree()
        for which in order if syncs else ():
            if which < len(self.clients) and not self.clients[which].waits:
                self.sync_with(self.clients[which])
                self.answers_agree()

    # -- what happens to the coordinator ------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0, 1, 3, 8, 8, 11, 61]))
    def time(self, seconds: int) -> None:
        self.bench.wait(seconds * SECOND)

    @rule()
    def move(self) -> None:
        self.bench.resign(self.epoch + 1)
        self.epoch += 2
        self.bench.elect(self.epoch)

    @rule()
    def crash(self) -> None:
        self.bench.restart()
        self.epoch += 1
        self.bench.elect(self.epoch)
        for client in self.clients:
            client.joining = client.syncing = None

    # -- what must hold -----------------------------------------------------------------------------------------------

    @invariant()
    def answers_agree(self) -> None:
        for client in self.clients:
            if client.joining is not None and client.joining.replies:
                self._joined(client, client.joining.last)
                client.joining = None
            if client.syncing is not None and client.syncing.replies:
                self._synced(client, client.syncing.last)
                client.syncing = None

    def _joined(self, client: Client, answer: JoinGroupResponse) -> None:
        if answer.error:
            client.forget()
            if answer.error is Errors.MEMBER_ID_REQUIRED:
                client.member = answer.member_id
            return
        key = self.epoch, answer.generation
        assert self.protocols.setdefault(key, answer.protocol) == answer.protocol, "one protocol in a generation"
        client.member, client.generation = answer.member_id, answer.generation
        client.leads = bool(answer.members)
        client.members = tuple(each.member_id for each in answer.members)
        if client.leads:
            assert answer.leader == answer.member_id
            assert answer.member_id in client.members

    def _synced(self, client: Client, answer: SyncGroupResponse) -> None:
        if answer.error or not answer.assignment:
            return
        generation, member = answer.assignment.decode().split(" ")
        assert int(generation) == client.generation, "an assignment is that of the member's generation"
        assert client.instance is not None or member == client.member, "and the member's own"

    @invariant()
    def the_group_is_sound(self) -> None:
        group = self.bench.groups.store.groups.get(GROUP)
        if group is None:
            return
        assert (group.state is GroupState.EMPTY) == (not group.members) or group.state is GroupState.PREPARING
        assert group.leader in group.members or not (group.leader or group.members)
        assert all(group.members[member].instance_id == name for name, member in group.instances.items())
        assert not set(group.pending) & set(group.members)
        assert (group.delayed is not None) == (group.state is GroupState.PREPARING)
        for member in group.members.values():
            assert member.awaiting_join is None or group.state is GroupState.PREPARING
            assert member.awaiting_sync is None or group.state is GroupState.COMPLETING
            waits = member.awaiting_join is not None or member.awaiting_sync is not None
            assert member.timer is not None or (waits and not member.is_new), "its session has an end"

    @invariant()
    def what_was_acknowledged_is_there(self) -> None:
        if self.acknowledged >= 0:
            assert self.bench.fetch().offset == self.acknowledged


TestGroups = Groups.TestCase
TestGroups.settings = settings(max_examples=60, stateful_step_count=40, deadline=None, derandomize=True)
