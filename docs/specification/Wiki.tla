---------------------------------- MODULE Wiki ----------------------------------
(***************************************************************************)
(* onPartitionReassignment of the controller's wiki page: twelve steps.    *)
(* KafkaController.onPartitionReassignment from 0.8.1 to 2.3 (0.8.2.2,     *)
(* 1.1.1 and 2.3.1 read). Steps that change memory only are in one action  *)
(* with the next that is seen from outside: a crash loses the memory.      *)
(***************************************************************************)
EXTENDS StateMachines

AllInIsr(w) == Range(w.me.target) \subseteq w.zk.isr

(* KafkaController.areReplicasInIsr decides where it begins: also after a  *)
(* failover and when a broker of the target comes back.                    *)
WikiBegins(w) ==
  IF AllInIsr(w) THEN At([w EXCEPT !.me.old = Range(w.me.replicas) \ Range(w.me.target)], "wiki.7")
  ELSE At([w EXCEPT !.me.todo = Range(w.me.target) \ Range(w.me.replicas)], "wiki.1")

(* 1. update assigned replica list with OAR + RAR replicas. Kafka (1.1.1,   *)
(* 2.3.1) puts RAR first.                                                  *)
WikiStep1(c) ==
  /\ ctl[c].pc = "wiki.1"
  /\ LET all == Union(ctl[c].target, ctl[c].replicas)
     IN Commit(c, At(WriteReplicas(SetReplicas(Work(c), all), all), "wiki.2"))

(* 2. send LeaderAndIsr request to every replica in OAR + RAR (with AR as   *)
(* OAR + RAR)                                                              *)
WikiStep2(c) ==
  /\ ctl[c].pc = "wiki.2"
  /\ Commit(c, At(RaiseEpochAndTell(Work(c), Range(ctl[c].replicas), Range(ctl[c].replicas)), "wiki.3"))

(* 3. replicas in RAR - OAR -> NewReplica *)
WikiStep3(c) ==
  /\ ctl[c].pc = "wiki.3"
  /\ Commit(c, At([ToNew(Work(c), ctl[c].todo) EXCEPT !.me.todo = {}], "wait"))

(* 4. wait until replicas in RAR join isr:                                 *)
(* processPartitionReassignmentIsrChange (2.3.1)                           *)
WikiStep4(c) ==
  /\ Protocol = "wiki" /\ ctl[c].pc = "wait" /\ AllInIsr(Work(c))
  /\ Commit(c, WikiBegins(Work(c)))

(* 5. replicas in RAR -> OnlineReplica. 6. set AR to RAR in memory.         *)
(* 7. send LeaderAndIsr request with a potential new leader (if current    *)
(* leader not in RAR) and a new assigned replica list (using RAR) and same *)
(* isr to every broker in RAR. Where the leader stays, Kafka (2.3.1) sends *)
(* it to OAR + RAR.                                                        *)
WikiSteps5To7(c) ==
  /\ ctl[c].pc = "wiki.7"
  /\ LET in_memory == SetReplicas(Work(c), ctl[c].target)
         moved == MoveLeader(in_memory, ctl[c].target, Range(ctl[c].replicas))
     IN Commit(c, At([moved EXCEPT !.me.todo = ctl[c].old], IF ctl[c].old = {} THEN "wiki.10" ELSE "wiki.8"))

(* 8. replicas in OAR - RAR -> Offline (force those replicas out of isr):   *)
(* a write for each                                                        *)
WikiStep8(c, r) ==
  /\ ctl[c].pc = "wiki.8" /\ r \in ctl[c].todo
  /\ LET w == [ToOffline(Work(c), r) EXCEPT !.me.todo = @ \ {r}]
     IN Commit(c, At(w, IF w.me.todo = {} THEN "wiki.9" ELSE "wiki.8"))

(* 9. replicas in OAR - RAR -> NonExistentReplica (force those replicas to  *)
(* be deleted)                                                             *)
WikiStep9(c) ==
  /\ ctl[c].pc = "wiki.9"
  /\ Commit(c, At(ToNonExistent(Work(c), ctl[c].old), "wiki.10"))

(* No release waits for the deletion (stopOldReplicasOfReassignedPartition, *)
(* 2.3.1, says so in a comment). As meant, the next step would.            *)
Deleted(c) == DeletesUnconfirmed \/ \A r \in ctl[c].old : registered[r] => ~disk[r]

(* 10. update assigned replica list to RAR in ZK *)
WikiStep10(c) ==
  /\ ctl[c].pc = "wiki.10" /\ Deleted(c)
  /\ Commit(c, At(WriteReplicas(Work(c), ctl[c].target), "wiki.11"))

(* 11. update the /admin/reassign_partitions path in ZK to remove this      *)
(* partition                                                               *)
WikiStep11(c) ==
  /\ ctl[c].pc = "wiki.11"
  /\ Commit(c, At(RemoveFromAdmin(Work(c)), "wiki.12"))

(* 12. after electing leader, the replicas and isr information changes, so  *)
(* resend the update metadata request to every broker                      *)
WikiStep12(c) ==
  /\ ctl[c].pc = "wiki.12"
  /\ Commit(c, At(UpdateMetadata([Work(c) EXCEPT !.me.target = <<>>, !.me.old = {}]), "idle"))

WikiNext(c) ==
  \/ WikiStep1(c) \/ WikiStep2(c) \/ WikiStep3(c) \/ WikiStep4(c) \/ WikiSteps5To7(c)
  \/ \E r \in Brokers : WikiStep8(c, r)
  \/ WikiStep9(c) \/ WikiStep10(c) \/ WikiStep11(c) \/ WikiStep12(c)
=============================================================================
