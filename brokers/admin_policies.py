"""The differences between releases in what admin clients are answered about settings and quotas."""

from attrs import frozen


@frozen
class AdminPolicies:
    """The defaults are those of Kafka 2.3.

    Attributes:
        knows_missing_settings: KAFKA-9644 and KAFKA-9695 (2.6): requests to change settings may leave out what was set
            before, and are refused where they leave out a value. Before, both failed with UNKNOWN_SERVER_ERROR.
        shows_rates: KAFKA-9625 (2.5): DescribeConfigs shows the rates of throttles. Before, they counted as what may be
            a password, as they exist as dynamic settings only.
        no_names_are_all: AdminManager.describeConfigs (2.7): an empty list of names asks for all settings. Before, it
            asked for none.
        checks_resources: ConfigAdminManager (3.2, 3.3): a resource may be changed once in a request; a list gets only
            what it does not have; and what a topic cannot be set to is INVALID_CONFIG. Before, it was INVALID_REQUEST.
        refuses_marked: KAFKA-13175 (3.1): no topic is created while /admin/delete_topics has its name. Before, none was
            while its own znode was there.
        limits_mutations: KIP-599 (2.7): the settings of clients know controller_mutation_rate, and
            requests that change topics keep to it.
        limits_addresses: KIP-612 (2.8): addresses have quotas, too.
    """

    knows_missing_settings: bool = False
    shows_rates: bool = False
    no_names_are_all: bool = False
    checks_resources: bool = False
    refuses_marked: bool = False
    limits_mutations: bool = False
    limits_addresses: bool = False
