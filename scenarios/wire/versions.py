"""The versions of APIs that brokers announce: those of their release, as far as they are served here.

``scenarios.wire.released_versions`` has what each release announces, ``scenarios.wire.apis.base`` what can be
translated, ``scenarios.wire.refusals`` what is refused as a broker of that release would refuse it.
"""

from collections.abc import Mapping

from scenarios.wire.apis.base import TRANSLATED
from scenarios.wire.refusals import REFUSED_BY_KAFKA
from scenarios.wire.released_versions import RELEASES, Versions, released

WITHOUT_ANSWER = "3.0"
"""The release whose versions stand in for those of a release without ApiVersions, none of whose versions is served."""
OLDEST_COORDINATOR = "2.3"
"""The release whose transaction coordinator all older profiles have."""
TRANSACTIONAL = (22, 24, 25, 26, 28)
"""The APIs of transactional producers, which decide by their versions what they do after an error: KIP-360, KIP-447 and
KIP-588 need a coordinator that knows them (``brokers.transactions.policies``)."""
TOPIC_IDS = "2.8"
NEWEST_WITHOUT_TOPIC_IDS = {1: 12, 3: 9, 19: 6, 20: 5}
"""The newest versions whose messages have no topic id, of the APIs that got one (KIP-516)."""


def known_releases() -> str:
    """The releases that ``--api-versions`` takes, for a message."""
    return f"{RELEASES[0]} to {RELEASES[-1]}"


def release_of(own: str) -> str:
    """The release whose versions brokers announce, where nothing else is asked for.

    Args:
        own: the release of the profile.
    """
    return own if released(own) else WITHOUT_ANSWER


def announced(release: str, own: str) -> dict[int, Versions]:
    """The versions that brokers announce, by the API's number: what the release has and is served here, and what its
    brokers refuse to clients, too.

    Args:
        release: the release whose versions are announced.
        own: the release of the profile: transactions and topic ids end with what that has.
    """
    newest = _newest(own)
    found = {}
    for key, (low, high) in released(release).items():
        first, last = TRANSLATED.get(key, (0, high if key in REFUSED_BY_KAFKA else -1))
        low, high = max(low, first), min(high, last, newest.get(key, high))
        if low <= high:
            found[key] = (low, high)
    return found


def _newest(own: str) -> Mapping[int, int]:
    """The newest version of each API that brokers of a profile must not go beyond."""
    coordinator = released(own if is_at_least(own, OLDEST_COORDINATOR) else OLDEST_COORDINATOR)
    newest = {key: coordinator[key][1] for key in TRANSACTIONAL}
    return newest if is_at_least(own, TOPIC_IDS) else {**newest, **NEWEST_WITHOUT_TOPIC_IDS}


def is_at_least(release: str, other: str) -> bool:
    """Whether a release is ``other`` or a later one."""
    return tuple(map(int, release.split("."))) >= tuple(map(int, other.split(".")))
