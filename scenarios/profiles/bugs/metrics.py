"""Bugs of what brokers show of themselves."""

from scenarios.profiles.bug import Bug

BUGS = (
    Bug(
        ticket="KAFKA-7704",
        title="an idle follower shows the whole high watermark as its lag",
        affected="2.1.0; fixed in 2.1.1",
        happened="The lag was computed from the offset after the last record of the answer, which for an answer "
        "without records is 0. MaxLag of a cluster without traffic was as high as its longest log, and alerts fired.",
        here="An answer without records sets the lag to the leader's high watermark.",
        checker="lag_true",
        policies={"fetchers.empty_answer_lags": True},
        source="AbstractFetcherThread.processFetchRequest, 2.1.0 and 2.1.1",
    ),
)
