-------------------------------- MODULE Kafka6794 --------------------------------
(***************************************************************************)
(* KAFKA-6794's incremental move (seed 001, the comment of 7 December      *)
(* 2018), which no release has: one replica in, at most some out, hop by   *)
(* hop. CR is the list in memory, FTR the target.                          *)
(***************************************************************************)
EXTENDS Wiki

Excess(w) == Kept(w.me.replicas, Range(w.me.replicas) \ Range(w.me.target))                 \* ER, in CR's order
LeaderLast(w, s) == Kept(s, Range(s) \ {w.zk.leader}) \o Kept(s, {w.zk.leader})

(* The text's n = size(FTR) - size(CR) has its sign the other way round:   *)
(* its own example needs the surplus of CR.                                *)
Surplus(w) == Max({0, Len(w.me.replicas) - Len(w.me.target)})
Dropped(w) == LET er == LeaderLast(w, Excess(w)) IN Range(SubSeq(er, 1, Least(Surplus(w), Len(er))))   \* DR
NewOne(w) == Kept(w.me.target, Range(w.me.target) \ Range(w.me.replicas))                  \* NR is its head
LastHop(w) == NewOne(w) = <<>>

(* TR: CR + NR - DR, or FTR in its own order if this is the last step *)
Target(w) ==
  IF LastHop(w) THEN w.me.target
  ELSE Kept(w.me.replicas \o <<Head(NewOne(w))>>, Brokers \ Dropped(w))

(* The text begins at its step 1. After a failover between 5 and 6 the     *)
(* leader would never be told of CR, and step 1 would wait for ever; so CR *)
(* is announced first (the reading of errata.md).                          *)
Kafka6794Begins(w) == At(w, "6794.1")
Kafka6794Announces(w) == At(RaiseEpochAndTell(w, Range(w.me.replicas), Range(w.me.replicas)), "6794.1")

(* 1. Wait until CR is entirely in ISR. 2. Calculate the next step. 3. Wait *)
(* until all brokers in TR are alive. 4. New replicas in ISR from the      *)
(* previous step to OnlineReplica (memory). 5. Update CR in Zookeeper with *)
(* TR.                                                                     *)
Kafka6794Steps1To5(c) ==
  /\ ctl[c].pc = "6794.1" /\ Range(ctl[c].replicas) \subseteq zk.isr
  /\ LET w == Work(c) IN
       /\ Range(Target(w)) \subseteq ctl[c].live
       /\ Commit(c, At([WriteReplicas(w, Target(w)) EXCEPT !.me.old = Range(w.me.replicas) \ Range(Target(w))], "6794.6"))

(* 6. Send LeaderAndIsr request to all replicas in CR + NR *)
Kafka6794Step6(c) ==
  /\ ctl[c].pc = "6794.6"
  /\ LET all == Range(ctl[c].replicas) \cup Range(zk.replicas)
     IN Commit(c, At(RaiseEpochAndTell(Work(c), all, all), "6794.7"))

(* 7. Start new replicas in NR by moving them to NewReplica state. 8. Set   *)
(* CR to TR in memory.                                                     *)
Kafka6794Steps7And8(c) ==
  /\ ctl[c].pc = "6794.7"
  /\ LET started == ToNew(Work(c), Range(zk.replicas) \ Range(ctl[c].replicas))
     IN Commit(c, At(SetReplicas(started, zk.replicas), "6794.9"))

(* 9. Send LeaderAndIsr request with a potential new leader (if current     *)
(* leader not in TR) and a new CR (using TR) and same ISR to every broker  *)
(* in TR                                                                   *)
Kafka6794Step9(c) ==
  /\ ctl[c].pc = "6794.9"
  /\ LET w == MoveLeader(Work(c), ctl[c].replicas, Range(ctl[c].replicas))
         next == IF ctl[c].old # {} THEN "6794.10" ELSE IF ctl[c].replicas = ctl[c].target THEN "6794.12" ELSE "6794.1"
     IN Commit(c, At([w EXCEPT !.me.todo = ctl[c].old], next))

(* 10. Replicas in DR -> Offline (force those replicas out of ISR)          *)
(* 11. Replicas in DR -> NonExistentReplica (force those replicas to be    *)
(* deleted)                                                                *)
Kafka6794Steps10And11(c, r) ==
  /\ ctl[c].pc = "6794.10" /\ r \in ctl[c].todo
  /\ LET w == [ToOffline(Work(c), r) EXCEPT !.me.todo = @ \ {r}]
         next == IF ctl[c].replicas = ctl[c].target THEN "6794.12" ELSE "6794.1"
     IN Commit(c, IF w.me.todo = {} THEN At(ToNonExistent(w, w.me.old), next) ELSE w)

(* 12. Update the /admin/reassign_partitions path in ZK to remove this      *)
(* partition (after the last hop: it is where FTR is kept). 13. After      *)
(* electing leader, resend the update metadata request to every broker.    *)
Kafka6794Steps12And13(c) ==
  /\ ctl[c].pc = "6794.12" /\ Deleted(c)
  /\ LET w == RemoveFromAdmin(Work(c))
     IN Commit(c, At(UpdateMetadata([w EXCEPT !.me.target = <<>>, !.me.old = {}]), "idle"))

Kafka6794Next(c) ==
  \/ Kafka6794Steps1To5(c) \/ Kafka6794Step6(c) \/ Kafka6794Steps7And8(c) \/ Kafka6794Step9(c)
  \/ \E r \in Brokers : Kafka6794Steps10And11(c, r)
  \/ Kafka6794Steps12And13(c)
=============================================================================
