--------------------------------- MODULE Kafka42 ---------------------------------
(***************************************************************************)
(* The seven steps of KAFKA-42 (seed 000), as 0.8.0 had them: only         *)
(* /admin/reassign_partitions knows of a move until step 6.                *)
(***************************************************************************)
EXTENDS Wiki

(* PartitionReassignedListener: the same list, or a dead replica in the new *)
(* one, is refused, and the entry removed.                                 *)
Kafka42Begins(w) ==
  IF ~(Range(w.me.target) \subseteq w.me.live)
  THEN At([RemoveFromAdmin(w) EXCEPT !.me.target = <<>>], "idle")
  ELSE IF AllInIsr(w) THEN At([w EXCEPT !.me.old = Range(w.me.replicas) \ Range(w.me.target)], "42.4")
  ELSE At(w, "42.2")

(* 1. Register listener for ISR changes to detect when the RAR is a subset  *)
(* of the ISR (memory). 2. Start new replicas RAR - AR.                    *)
Kafka42Steps1And2(c) ==
  /\ ctl[c].pc = "42.2"
  /\ Commit(c, At(ToNew(Work(c), Range(ctl[c].target) \ Range(ctl[c].replicas)), "wait"))

(* 3. Wait until new replicas are in sync with the leader *)
Kafka42Step3(c) ==
  /\ Protocol = "kafka-42" /\ ctl[c].pc = "wait" /\ AllInIsr(Work(c))
  /\ Commit(c, Kafka42Begins(Work(c)))

(* 4. If the leader is not in RAR, elect a new leader from RAR. The new     *)
(* replicas become Online first, and so join the list in memory            *)
(* (ReplicaStateMachine.handleStateChange, 0.8.0).                         *)
Kafka42Step4(c) ==
  /\ ctl[c].pc = "42.4"
  /\ LET w == SetReplicas(Work(c), Union(ctl[c].replicas, ctl[c].target))
         led == IF w.me.cached.leader \in Range(w.me.target) \cap w.me.live THEN w ELSE ElectForReassign(w, w.me.target)
     IN Commit(c, At([led EXCEPT !.me.todo = w.me.old], IF w.me.old = {} THEN "42.6" ELSE "42.5"))

(* 5. Stop old replicas AR - RAR: each out of the ISR, then all deleted *)
Kafka42Step5(c, r) ==
  /\ ctl[c].pc = "42.5" /\ r \in ctl[c].todo
  /\ LET w == [ToOffline(Work(c), r) EXCEPT !.me.todo = @ \ {r}]
     IN Commit(c, IF w.me.todo = {} THEN At(ToNonExistent(w, w.me.old), "42.6") ELSE w)

(* 6. Write new AR *)
Kafka42Step6(c) ==
  /\ ctl[c].pc = "42.6" /\ Deleted(c)
  /\ Commit(c, At(WriteReplicas(SetReplicas(Work(c), ctl[c].target), ctl[c].target), "42.7"))

(* 7. Remove partition from the /admin/reassign_partitions path *)
Kafka42Step7(c) ==
  /\ ctl[c].pc = "42.7"
  /\ Commit(c, At([RemoveFromAdmin(Work(c)) EXCEPT !.me.target = <<>>, !.me.old = {}], "idle"))

Kafka42Next(c) ==
  \/ Kafka42Steps1And2(c) \/ Kafka42Step3(c) \/ Kafka42Step4(c)
  \/ \E r \in Brokers : Kafka42Step5(c, r)
  \/ Kafka42Step6(c) \/ Kafka42Step7(c)
=============================================================================
