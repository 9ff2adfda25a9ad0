"""CreateTopics, DeleteTopics and CreatePartitions (kafka.server.AdminManager with its topic purgatory, 2.3); and
DescribeCluster, which every broker answers.

Only the broker that is the controller answers the others with more than NOT_CONTROLLER. What is asked for is written
into ZooKeeper, and the answer waits until this broker's metadata cache shows it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Protocol

from attrs import define, field

from brokers.broker_policies import BrokerPolicies
from brokers.config_def import ConfigException, valid_topic_config
from brokers.controller_mutations import ControllerMutationQuota
from brokers.metadata_cache import MetadataCache
from brokers.requests.admin_configs import ConfigsHandler, api_error
from brokers.requests.router import handles
from brokers.topic_creation import AdminZkClient, Assignment
from emulator.kernel import Timer
from emulator.network import Channel
from emulator.nodes import Process
from emulator.protocol.control_requests import TopicsAnswered
from emulator.protocol.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, NewPartitions
from emulator.protocol.create_topics import UNSTATED, CreatedTopic, CreateTopicsRequest, CreateTopicsResponse, NewTopic
from emulator.protocol.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from emulator.protocol.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from emulator.protocol.errors import NO_API_ERROR, ApiError, ApiException, Errors
from emulator.protocol.mutating_client import MutatingClient
from emulator.protocol.types import NO_LEADER
from emulator.zookeeper import ZkError

NOT_CONTROLLER = ApiError(Errors.NOT_CONTROLLER)
TIMED_OUT = ApiError(Errors.REQUEST_TIMED_OUT)
TOO_MANY = ApiError(Errors.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")
MOST_PARTITIONS = 10_000
"""The most partitions that one request may create. Kafka has this limit, and this text, since its controllers write no
ZooKeeper any more (QuorumController.MAX_RECORDS_PER_USER_OP, 3.7). Before, a request could ask for any number."""

Results = dict[str, ApiError]


class OfController(Protocol):
    """The broker's controller, as requests about topics see it."""

    @property
    def is_active(self) -> bool: ...

    @property
    def deletes_topics(self) -> bool:
        """delete.topic.enable."""
        ...

    def is_deleting(self, topic: str) -> bool:
        """Whether a topic is queued for deletion."""
        ...

    def topic_of(self, topic_id: str) -> str:
        """The topic with an id (KIP-516, 2.8); "" where the controller knows none."""
        ...


NO_SETTINGS: Mapping[str, Mapping[str, str | None]] = {}


@define(eq=False)
class DelayedTopics:
    """A request that waits for the metadata cache (kafka.server.DelayedCreatePartitions, DelayedDeleteTopics).

    Attributes:
        missing: the topics that have not come as far yet.
        answer: called with the topics that have not by then.
    """

    missing: Callable[[], list[str]]
    answer: Callable[[list[str]], object]
    timer: Timer | None = None


@define(eq=False)
class TopicPurgatory:
    """The requests that wait for the metadata cache of one broker."""

    process: Process
    waiting: dict[DelayedTopics, None] = field(factory=dict)

    def try_complete_else_wait(self, delayed: DelayedTopics, timeout_us: int) -> None:
        """Answer now, or when the cache shows it, or after ``timeout_us`` with what is missing then."""
        if not delayed.missing():
            delayed.answer([])
            return
        delayed.timer = self.process.call_later(timeout_us, self._expire, delayed)
        self.waiting[delayed] = None

    def look(self) -> None:
        """The cache has changed."""
        for delayed in list(self.waiting):
            if not delayed.missing():
                del self.waiting[delayed]
                if delayed.timer is not None:
                    delayed.timer.cancel()
                delayed.answer([])

    def _expire(self, delayed: DelayedTopics) -> None:
        if delayed in self.waiting:
            del self.waiting[delayed]
            delayed.answer(delayed.missing())


@define(eq=False)
class TopicsHandler:
    """Answers admin clients.

    Attributes:
        any_move_forbids: whether the move of any topic forbids to add partitions (up to 2.3).
        policies: the rules of the moment.
        quota_for: the quota of a request that a client has sent.
    """

    process: Process
    admin_zk: AdminZkClient
    metadata: MetadataCache
    configs: ConfigsHandler
    controller: OfController
    policies: Callable[[], BrokerPolicies]
    any_move_forbids: bool
    quota_for: Callable[[MutatingClient | None], ControllerMutationQuota]
    purgatory: TopicPurgatory = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.purgatory = TopicPurgatory(self.process)
        self.metadata.watchers.append(self.purgatory.look)

    # -- CreateTopics -------------------------------------------------------------------------------------------------

    @handles(CreateTopicsRequest)
    def create_topics(self, request: CreateTopicsRequest, channel: Channel) -> None:
        if not self.controller.is_active:
            refused = CreateTopicsResponse(tuple(CreatedTopic(topic.name, NOT_CONTROLLER) for topic in request.topics))
            channel.reply(refused, refused.size)
            return
        self.process.spawn(self._create_topics, request, channel, name="create topics")

    async def _create_topics(self, request: CreateTopicsRequest, channel: Channel) -> None:
        names = Counter(topic.name for topic in request.topics)
        created: dict[str, CreatedTopic] = {}
        wanted: dict[str, Assignment] = {}
        left, quota = MOST_PARTITIONS, self.quota_for(request.client)
        for topic in request.topics:
            left -= max(topic.partitions, len(topic.assignment), 1)
            if names[topic.name] > 1 or left < 0:
                why = ApiError(Errors.INVALID_REQUEST, "Found multiple entries for this topic.")
                created[topic.name] = CreatedTopic(topic.name, TOO_MANY if left < 0 else why)
                continue
            try:
                wanted[topic.name], config, topic_id = await self._create_topic(topic, request.validate_only, quota)
                created[topic.name] = self._described(topic.name, wanted[topic.name], config, topic_id)
            except ConfigException as error:
                created[topic.name] = CreatedTopic(topic.name, ApiError(Errors.INVALID_CONFIG, str(error)))
            except (ApiException, ZkError) as error:
                created[topic.name] = CreatedTopic(topic.name, api_error(error))

        def answer(missing: Iterable[str]) -> None:
            for name in missing:
                created[name] = created[name]._replace(error=TIMED_OUT)
            if not request.validate_only:
                done = [name for name, topic in created.items() if topic.error is NO_API_ERROR]
                settings = {topic.name: topic.config for topic in request.topics if topic.name in done}
                self._tell_answered("create", {name: tuple(wanted[name]) for name in done}, settings)
            response = CreateTopicsResponse(tuple(created.values()), quota.throttle_ms)
            channel.reply(response, response.size)

        numbers = {name: list(assignment) for name, assignment in wanted.items()}
        self._answer_when_led(numbers, request.timeout_us, request.validate_only, answer)

    async def _create_topic(
        self, topic: NewTopic, validate_only: bool, quota: ControllerMutationQuota
    ) -> tuple[Assignment, Mapping[str, str], str]:
        """Check and write one topic. Returns its replicas, its settings and its id."""
        if self.policies().looks_for_topic_first and self.metadata.partitions_of(topic.name):
            raise ApiException(Errors.TOPIC_ALREADY_EXISTS, f"Topic '{topic.name}' already exists.")
        nulls = [name for name, value in topic.config.items() if value is None]
        if nulls:
            raise self.configs.null_values(nulls, of_new_topic=True)
        if topic.assignment and (topic.partitions, topic.replication_factor) != (UNSTATED, UNSTATED):
            raise ApiException(
                Errors.INVALID_REQUEST,
                "Both numPartitions or replicationFactor and replicasAssignments were set. Both cannot be used at the "
                "same time.",
            )
        assignment = topic.assignment or await self._placed(topic)
        settings = partial(valid_topic_config, topic.config)
        if validate_only:
            await self.admin_zk.validate_topic_create(topic.name, assignment)
            return assignment, settings(), ""

        def counted() -> Mapping[str, str]:
            valid = settings()
            quota.record(len(assignment))
            return valid

        return assignment, *await self.admin_zk.create_topic_with_assignment(topic.name, assignment, counted)

    async def _placed(self, topic: NewTopic) -> Assignment:
        """Kafka takes the racks from the metadata cache; here they are read from ZooKeeper, where they never change."""
        brokers = await self.admin_zk.brokers(self.metadata.live_brokers)
        partitions, factor, policies = topic.partitions, topic.replication_factor, self.policies()
        if policies.fills_in_defaults:
            partitions = policies.config.num_partitions if partitions == UNSTATED else partitions
            factor = policies.config.default_replication_factor if factor == UNSTATED else factor
        return self.admin_zk.place(topic.name, brokers, partitions, factor)

    def _described(
        self, name: str, assignment: Assignment, config: Mapping[str, str], topic_id: str
    ) -> CreatedTopic:  # fmt: skip
        entries = tuple(entry._replace(synonyms=()) for entry in self.configs.topic_entries(config))
        return CreatedTopic(name, NO_API_ERROR, len(assignment), len(assignment[0]), entries, topic_id)

    def _answer_when_led(
        self,
        numbers: Mapping[str, list[int]],
        timeout_us: int,
        validate_only: bool,
        answer: Callable[[Iterable[str]], object],
    ) -> None:
        """Call ``answer`` when the partitions of each topic have leaders, with the topics for which that took too
        long."""
        if validate_only or not numbers:
            answer(())
        elif timeout_us <= 0:
            answer(numbers)
        else:
            delayed = DelayedTopics(lambda: [name for name in numbers if self._lacks(name, numbers[name])], answer)
            self.purgatory.try_complete_else_wait(delayed, timeout_us)

    def _tell_answered(
        self,
        asked: str,
        partitions: Mapping[str, tuple[int, ...]],
        settings: Mapping[str, Mapping[str, str | None]] = NO_SETTINGS,
    ) -> None:
        """Show an answer without an error beside what the metadata has (``TopicsAnswered``)."""
        known = {
            topic: tuple(
                number
                for number, state in self.metadata.partitions_of(topic).items()
                if asked == "delete" or state.leader != NO_LEADER
            )
            for topic in partitions
        }
        self.process.show(TopicsAnswered, self.process.node.id, asked, partitions, known, settings)

    def _lacks(self, topic: str, numbers: Iterable[int]) -> bool:
        """Whether a partition has no leader in the cache."""
        known = self.metadata.partitions_of(topic)
        return any(number not in known or known[number].leader == NO_LEADER for number in numbers)

    # -- CreatePartitions ---------------------------------------------------------------------------------------------

    @handles(CreatePartitionsRequest)
    def create_partitions(self, request: CreatePartitionsRequest, channel: Channel) -> None:
        if not self.controller.is_active:
            refused = CreatePartitionsResponse(tuple((new.topic, NOT_CONTROLLER) for new in request.topics))
            channel.reply(refused, refused.size)
            return
        self.process.spawn(self._create_partitions, request, channel, name="create partitions")

    async def _create_partitions(self, request: CreatePartitionsRequest, channel: Channel) -> None:
        names = Counter(new.topic for new in request.topics)
        results: Results = {}
        numbers: dict[str, list[int]] = {}
        left, quota = MOST_PARTITIONS, self.quota_for(request.client)
        for new in request.topics:
            try:
                left -= max(new.total, 1)
                if left < 0:
                    raise ApiException(*TOO_MANY)
                if names[new.topic] > 1:
                    raise ApiException(Errors.INVALID_REQUEST, "Duplicate topic in request.")
                first = await self._add_partitions(new, request.validate_only, quota)
                numbers[new.topic] = list(range(first, new.total))
                results[new.topic] = NO_API_ERROR
            except (ApiException, ZkError) as error:
                results[new.topic] = api_error(error)

        def answer(missing: Iterable[str]) -> None:
            results.update(dict.fromkeys(missing, TIMED_OUT))
            if not request.validate_only:
                done = [name for name, error in results.items() if error is NO_API_ERROR]
                self._tell_answered("create", {name: tuple(numbers[name]) for name in done})
            response = CreatePartitionsResponse(tuple(results.items()), throttle_ms=quota.throttle_ms)
            channel.reply(response, response.size)

        self._answer_when_led(numbers, request.timeout_us, request.validate_only, answer)

    async def _add_partitions(self, new: NewPartitions, validate_only: bool, quota: ControllerMutationQuota) -> int:
        if self.controller.is_deleting(new.topic):
            raise ApiException(Errors.INVALID_TOPIC_EXCEPTION, "The topic is queued for deletion.")
        brokers = await self.admin_zk.brokers()
        return await self.admin_zk.add_partitions(
            new.topic, new.total, new.replicas, brokers,
            any_move_forbids=self.any_move_forbids, validate_only=validate_only, count=quota.record,
        )  # fmt: skip

    # -- DescribeCluster ----------------------------------------------------------------------------------------------

    @handles(DescribeClusterRequest)
    def describe_cluster(self, _request: DescribeClusterRequest, channel: Channel) -> None:
        response = DescribeClusterResponse(self.metadata.controller, self.metadata.live_brokers)
        channel.reply(response, response.size)

    # -- DeleteTopics -------------------------------------------------------------------------------------------------

    @handles(DeleteTopicsRequest)
    def delete_topics(self, request: DeleteTopicsRequest, channel: Channel) -> None:
        if self.controller.is_active and self.controller.deletes_topics:
            self.process.spawn(self._delete_topics, request, channel, name="delete topics")
            return
        error = ApiError(Errors.TOPIC_DELETION_DISABLED) if self.controller.is_active else NOT_CONTROLLER
        by_id = tuple((topic_id, "", error) for topic_id in request.topic_ids)
        refused = DeleteTopicsResponse(tuple((topic, error) for topic in request.topics), by_id)
        channel.reply(refused, refused.size)

    async def _delete_topics(self, request: DeleteTopicsRequest, channel: Channel) -> None:
        results: Results = {}
        quota = self.quota_for(request.client)
        named = {topic_id: self.controller.topic_of(topic_id) for topic_id in request.topic_ids}
        for topic in dict.fromkeys((*request.topics, *filter(None, named.values()))):
            partitions = self.metadata.partitions_of(topic)
            if not partitions:
                results[topic] = ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION)
                continue
            try:
                quota.record(len(partitions))
                await self.admin_zk.delete_topic(topic)
                results[topic] = NO_API_ERROR
            except (ApiException, ZkError) as error:
                results[topic] = ApiError(api_error(error).code)  # ZkAdminManager answers without words, up to 3.9
        marked = [topic for topic, error in results.items() if error is NO_API_ERROR]

        def answer(still_there: Iterable[str]) -> None:
            results.update(dict.fromkeys(still_there, TIMED_OUT))
            self._tell_answered("delete", {topic: () for topic, error in results.items() if error is NO_API_ERROR})
            unknown = ApiError(Errors.UNKNOWN_TOPIC_ID)
            by_id = tuple((topic_id, topic, results.get(topic, unknown)) for topic_id, topic in named.items())
            by_name = tuple((topic, results[topic]) for topic in dict.fromkeys(request.topics))
            response = DeleteTopicsResponse(by_name, by_id, throttle_ms=quota.throttle_ms)
            channel.reply(response, response.size)

        if request.timeout_us <= 0 or not marked:
            answer(marked)
        else:
            delayed = DelayedTopics(lambda: [topic for topic in marked if self.metadata.partitions_of(topic)], answer)
            self.purgatory.try_complete_else_wait(delayed, request.timeout_us)
