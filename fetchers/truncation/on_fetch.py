"""Truncation on fetch (KIP-595, inter-broker protocol 2.7-IV1)."""

from attrs import frozen

from fetchers.truncation.kip_279 import Kip279


@frozen
class OnFetch(Kip279):
    """KIP-279's cuts without a round of questions: a follower fetches from its own end on, and an answer says where its
    last epoch ends for the leader if the logs part before that. A log without epochs is cut at its high watermark.

    Kafka's leaders answer so since 2.7.0; the followers' side came with 2.8.0, for clusters at that protocol.
    """

    on_fetch: bool = True
