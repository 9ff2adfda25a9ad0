"""What a profile means: one bundle of policies for each floor."""

from attrs import field, frozen

from brokers.policies import BrokerPolicies
from controller import ControllerPolicies
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.wiki import Wiki
from fetchers import FetcherPolicies
from scenarios.cluster.clients.tools.topics import Moving, any_move


@frozen
class Bundle:
    """The choices of one release or document. What a scenario sets (settings, throttles, its strategy) is laid over
    them in ``setup``.

    Attributes:
        wiki: the controller page's protocol as this release runs it.
        moves_forbid_expansion: which moves keep partitions from being added to a topic.
        kip_455: KIP-455's, likewise.
    """

    controller: ControllerPolicies = field(factory=ControllerPolicies)
    brokers: BrokerPolicies = field(factory=BrokerPolicies)
    fetchers: FetcherPolicies = field(factory=FetcherPolicies)
    wiki: Wiki = field(factory=Wiki)
    moves_forbid_expansion: Moving = any_move
    kip_455: Kip455 = field(factory=Kip455)
