------------------------------- MODULE Cluster -------------------------------
(***************************************************************************)
(* The nouns: one partition, its replicas on some brokers, ZooKeeper, and  *)
(* the nodes that may be controller. Every other module adds the actions   *)
(* of one concern. Citations name class and method, and the release in     *)
(* which they were read; "page" is the wiki's page of the controller       *)
(* (seed 003), whose numbers the steps keep.                               *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Brokers,       \* the brokers, as numbers
  Controllers,   \* nodes that may be controller; none of them has a replica
  Before,        \* OAR: the replicas before the move, in order
  After,         \* RAR: the replicas that the move asks for, in order
  Protocol       \* "wiki", "kafka-42", "kafka-6794" or "kip-455"

CONSTANTS        \* how much may happen in one behaviour
  MaxRecords,    \* batches that producers send
  MaxDeaths,     \* brokers that die
  MaxExpiries,   \* brokers that lose their session and live on
  MaxFailovers,  \* controllers that die
  MaxZombies,    \* controllers that lose their session and do not know it yet
  MaxElections,  \* elections that somebody asks for
  MaxShrinks,    \* times that a follower lags for too long
  MaxResends,    \* requests that a controller sends once more
  MaxMoves,      \* 0 or 1; 2 where a move that was cancelled is asked for again
  MaxCancels     \* 0 or 1 (KIP-455)

(* What a release does otherwise than it was meant. README.md has the value *)
(* in each release, and the source of each.                                *)
CONSTANTS
  TruncatesToHighWatermark, \* a new follower cuts its log at its own high watermark (before KIP-101)
  AnswersEpochsCoarsely,    \* OffsetsForLeaderEpoch answers an offset without an epoch (before KIP-279)
  FetchesUnfenced,          \* fetches carry no leader epoch (before KIP-320)
  SessionsForgetEpoch,      \* fetch sessions do not keep the epoch (KAFKA-9338)
  JoinsBelowEpochStart,     \* a follower joins the ISR at the high watermark (KAFKA-7128)
  WritesUnfenced,           \* a controller writes without checking /controller_epoch (KAFKA-6082)
  CachedLeadershipStale,    \* the controller's cache misses the epoch that it raised (KAFKA-9212)
  DeletesMoveUnread,        \* the znode of moves is deleted without a look at it
  CommitsOverAssigned,      \* the high watermark leaves out ISR members that are not assigned
  JoinsUnassigned,          \* a leader adds a replica that it was not told to have (KAFKA-1097)
  ElectsUnclean,            \* no in-sync replica alive: any assigned one leads (KAFKA-1028)
  FencedFetchFails,         \* a fenced fetch marks the partition failed (KIP-461 with KAFKA-9654)
  StopsUnfenced,            \* StopReplica carries no leader epoch (before KIP-570)
  DeletesUnconfirmed,       \* the move goes on before replicas are known to be deleted
  ShrinksCaughtUp,          \* who has everything leaves the ISR too, if it does not fetch (KAFKA-7152)
  EntersEpochWithRecord,    \* an epoch is entered into the cache with its first record (KAFKA-7415)
  RefusesStopInOwnEpoch,    \* a StopReplica in the broker's own leader epoch is refused (KAFKA-13972)
  ForgetsOwnIsrWrite,       \* a lost answer of ZooKeeper leaves the old version cached (KAFKA-1382)
  IsrByController           \* the controller writes the ISR for the leader (KIP-497)

VARIABLES
  alive,       \* [Brokers -> BOOLEAN]: the process runs
  registered,  \* [Brokers -> BOOLEAN]: /brokers/ids/N is there
  disk,        \* [Brokers -> BOOLEAN]: the log directory has the partition
  log,         \* [Brokers -> Seq([id, epoch])]
  cache,       \* [Brokers -> Seq([epoch, start])]: the leader epoch cache
  hw,          \* [Brokers -> Nat]: the high watermark, checkpointed at once
  part,        \* [Brokers -> what the broker's Partition object holds]
  seen,        \* [Brokers -> Nat]: the highest controller epoch that the broker has met
  zk,          \* all znodes of the partition and of the controller
  ctl,         \* [Controllers -> what the node's ControllerContext holds]
  queue,       \* [Controllers -> [Brokers -> Seq(request)]]: one queue to each broker
  acked,       \* what producers with acks=all were told is safe: <<offset, id>>
  writers,     \* who wrote as controller under which /controller_epoch: <<epoch, node>>
  left         \* what may still happen

vars == <<alive, registered, disk, log, cache, hw, part, seen, zk, ctl, queue, acked, writers, left>>
ofBrokers == <<alive, registered, disk, log, cache, hw, part, seen>>
ofControllers == <<ctl, queue, writers>>

None == 0                                     \* no broker; Kafka writes -1
Range(s) == {s[i] : i \in DOMAIN s}
Min(S) == CHOOSE x \in S : \A y \in S : x <= y
Max(S) == CHOOSE x \in S : \A y \in S : x >= y
Least(x, y) == IF x < y THEN x ELSE y
Kept(s, S) == SelectSeq(s, LAMBDA x : x \in S)
First(s, S) == IF Kept(s, S) = <<>> THEN None ELSE Head(Kept(s, S))
Union(s, t) == s \o Kept(t, Range(t) \ Range(s))

NoPartition ==                                \* a Partition object as it is created: epoch -1
  [leader |-> None, epoch |-> -1, assigned |-> {}, isr |-> {}, proposal |-> {}, version |-> -1,
   decided |-> 0, start |-> 0, ends |-> [b \in Brokers |-> -1], fetch |-> "idle", session |-> FALSE]

Presumes(b) == alive[b] /\ part[b].leader = b  \* it serves as leader, rightly or not

NoRequests == [b \in Brokers |-> <<>>]
NotController ==
  [pc |-> "down", epoch |-> 0, version |-> -1, live |-> {}, cached |-> [leader |-> None, epoch |-> -1, isr |-> {}],
   replicas |-> <<>>, target |-> <<>>, todo |-> {}, old |-> {},
   told |-> -1]                                \* the leader epoch in its last UpdateMetadata

Active(c) == ctl[c].pc # "down"                \* it believes that it is the controller
Waits(c) == ctl[c].pc \in {"idle", "wait", "6794.1"}   \* its event thread takes the next event

Init ==
  /\ alive = [b \in Brokers |-> TRUE]
  /\ registered = [b \in Brokers |-> TRUE]
  /\ disk = [b \in Brokers |-> b \in Range(Before)]
  /\ log = [b \in Brokers |-> <<>>]
  /\ cache = [b \in Brokers |-> IF b = Head(Before) THEN <<[epoch |-> 0, start |-> 0]>> ELSE <<>>]
  /\ hw = [b \in Brokers |-> 0]
  /\ part = [b \in Brokers |->
       IF b \notin Range(Before) THEN NoPartition
       ELSE [NoPartition EXCEPT !.leader = Head(Before), !.epoch = 0, !.assigned = Range(Before), !.version = 0,
               !.decided = 1, !.isr = IF b = Head(Before) THEN Range(Before) ELSE {},
               !.ends = [r \in Brokers |-> IF b = Head(Before) /\ r \in Range(Before) \ {b} THEN 0 ELSE -1],
               !.fetch = IF b = Head(Before) THEN "idle" ELSE "fetching"]]
  /\ seen = [b \in Brokers |-> 1]
  /\ \E first \in Controllers :
       /\ zk = [leader |-> Head(Before), epoch |-> 0, isr |-> Range(Before), version |-> 0, by |-> 1,
                replicas |-> Before, adding |-> {}, removing |-> {}, admin |-> <<>>,
                controller |-> {first}, cepoch |-> 1, cversion |-> 1]
       /\ ctl = [c \in Controllers |->
            IF c # first THEN NotController
            ELSE [NotController EXCEPT !.pc = "idle", !.epoch = 1, !.version = 1, !.live = Brokers, !.replicas = Before,
                    !.cached = [leader |-> Head(Before), epoch |-> 0, isr |-> Range(Before)]]]
  /\ queue = [c \in Controllers |-> NoRequests]
  /\ acked = {}
  /\ writers = {}
  /\ left = [records |-> MaxRecords, deaths |-> MaxDeaths, expiries |-> MaxExpiries, failovers |-> MaxFailovers,
             zombies |-> MaxZombies, elections |-> MaxElections, shrinks |-> MaxShrinks, resends |-> MaxResends, moves |-> MaxMoves,
             cancels |-> MaxCancels]
=============================================================================
