---------------------------------- MODULE Kafka ----------------------------------
(***************************************************************************)
(* The whole: what may happen next, what happens if nothing else keeps it  *)
(* from happening, and what has to hold.                                   *)
(***************************************************************************)
EXTENDS Controller, TLC

Faults ==
  \/ \E c \in Controllers : ControllerDies(c) \/ ControllerSessionExpires(c)
  \/ \E b \in Brokers : BrokerDies(b) \/ BrokerSessionExpires(b)
  \/ \E l, r \in Brokers : ShrinkIsr(l, r)
  \/ \E c \in Controllers, b \in Brokers : SendsAgain(c, b)

Requests ==
  \/ \E b \in Brokers : LeaderAppends(b)
  \/ ToolAsksForMove
  \/ \E c \in Controllers : Cancel(c)
  \/ \E c \in Controllers, r \in Brokers : ReplicaElection(c, r)

Next ==
  \/ Faults \/ Requests
  \/ \E c \in Controllers : Elect(c) \/ Resign(c) \/ ControllerNext(c)
  \/ \E b \in Brokers, c \in Controllers : HandleRequest(b, c)
  \/ \E f \in Brokers : Fetch(f) \/ TruncateToEpochEndOffset(f) \/ BrokerComesBack(f)
  \/ \E c \in Controllers, l \in Brokers : AlterIsr(c, l)

Spec == Init /\ [][Next]_vars

(* Faults and requests need not happen; everything else does, if it can.    *)
Fairness ==
  /\ WF_vars(\E c \in Controllers : Elect(c))
  /\ \A c \in Controllers : WF_vars(Resign(c)) /\ WF_vars(ControllerNext(c))
  /\ \A b \in Brokers, c \in Controllers : WF_vars(HandleRequest(b, c)) /\ WF_vars(AlterIsr(c, b))
  /\ \A f \in Brokers : WF_vars(Fetch(f)) /\ WF_vars(TruncateToEpochEndOffset(f)) /\ WF_vars(BrokerComesBack(f))

FairSpec == Spec /\ Fairness

(***************************************************************************)
(* Safety                                                                  *)
(***************************************************************************)

Has(b, records) == \A r \in records : r[1] <= Len(log[b]) /\ log[b][r[1]].id = r[2]

(* Whoever leads by ZooKeeper's word, and knows it, has all that was        *)
(* acknowledged with acks=all.                                             *)
LeaderCompleteness == \A b \in Brokers : Presumes(b) /\ zk.leader = b /\ zk.epoch = part[b].epoch => Has(b, acked)

(* Every member of the ISR has it too: any of them may be the next leader.  *)
IsrCompleteness == \A b \in zk.isr : Has(b, acked)

(* No offset is acknowledged twice. *)
OneRecordAnOffset == \A r, s \in acked : r[1] = s[1] => r[2] = s[2]

(* The high watermark is within the log, and below the lesser of two of     *)
(* them the logs are the same.                                             *)
HighWatermarks ==
  /\ \A b \in Brokers : hw[b] <= Len(log[b])
  /\ \A a, b \in Brokers : \A i \in 1..Least(hw[a], hw[b]) : log[a][i].id = log[b][i].id

(* While a leader stays leader of an epoch, its high watermark never falls. *)
HighWatermarkRises ==
  [][\A b \in Brokers : Presumes(b) /\ part'[b].leader = b /\ part'[b].epoch = part[b].epoch => hw'[b] >= hw[b]]_vars

(* The leader is in the ISR, and the ISR has somebody. *)
LeaderInIsr == zk.isr # {} /\ (zk.leader # None => zk.leader \in zk.isr)

(* One node writes as controller under one controller epoch. *)
OneWriter == \A v, w \in writers : v[1] = w[1] => v[2] = w[2]

(* The page: "we have to update AR in ZK with RAR last since it's the only  *)
(* place where we store the OAR persistently".                             *)
OarRecoverable == Range(Before) \subseteq Range(zk.replicas) \/ Range(zk.replicas) = Range(After)

(* Metadata that went out last name the epoch that ZooKeeper has, whenever  *)
(* the controller waits.                                                   *)
MetadataFresh == \A c \in Controllers : zk.controller = {c} /\ Waits(c) /\ ctl[c].told # -1 => ctl[c].told = zk.epoch

(* A controller that waits knows the ISR: since KIP-497 it writes it. Until *)
(* then leaders do, and it hears of it later, or reads it when it elects.  *)
IsrKnown == \A c \in Controllers : zk.controller = {c} /\ Waits(c) => ctl[c].cached.isr = zk.isr

(* No follower has given up a partition that its leader still serves. *)
NoneFailed == \A b \in Brokers : part[b].fetch # "failed"

(* A move's znode goes only when the topic's znode has the new list. *)
MoveNotLost == left.moves < MaxMoves /\ left.cancels = MaxCancels /\ zk.admin = <<>> => Range(zk.replicas) = Range(After)

(***************************************************************************)
(* At rest: no move, nothing on its way, all brokers there                  *)
(***************************************************************************)
AtRest ==
  /\ zk.admin = <<>> /\ ~BeingMoved(zk)
  /\ \A b \in Brokers : alive[b] /\ registered[b]
  /\ \A c \in Controllers : IF zk.controller = {c} THEN ctl[c].pc = "idle" /\ ctl[c].live = Brokers ELSE ~Active(c)
  /\ zk.controller # {}
  /\ \A c \in Controllers : queue[c] = NoRequests

(* No replica is missing and none is left over. *)
NoneLostOrStray == AtRest => {b \in Brokers : disk[b]} = Range(zk.replicas)
NoneLost == AtRest => Range(zk.replicas) \subseteq {b \in Brokers : disk[b]}

(* The leader and the ISR are of the assigned ones. *)
LeaderAndIsrAssigned == AtRest => zk.isr \cup {zk.leader} \subseteq Range(zk.replicas)

(***************************************************************************)
(* Liveness                                                                *)
(***************************************************************************)
Moved == zk.admin = <<>> /\ ~BeingMoved(zk) /\ (Range(zk.replicas) = Range(After) \/ left.cancels < MaxCancels)
MovesEnd == left.moves = 0 ~> Moved

(* What a follower has given up it takes up again. *)
FailedHeal == \A b \in Brokers : part[b].fetch = "failed" ~> part[b].fetch # "failed"

(***************************************************************************)
(* For TLC                                                                 *)
(***************************************************************************)
AnyControllerIsAny == Permutations(Controllers)

(* Only the last broker loses its session, and does not get another: what   *)
(* is looked for is a follower that the cluster has given up.              *)
OnlyLastIsGivenUp == \A b \in Brokers : registered[b] \/ b = Max(Brokers)
GivenUpForGood == left.expiries = MaxExpiries \/ ~registered[Max(Brokers)]

Replicas12 == <<1, 2>>
Replicas23 == <<2, 3>>
Replicas13 == <<1, 3>>
Replicas123 == <<1, 2, 3>>
Replicas1 == <<1>>
Replicas2 == <<2>>
Replicas3 == <<3>>
=============================================================================
