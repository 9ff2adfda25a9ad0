---------------------------------- MODULE Kip455 ----------------------------------
(***************************************************************************)
(* KIP-455's phases: KafkaController.onPartitionReassignment of 2.4.1, with *)
(* its letters. RS, AR and RR are all in the topic's znode, so that ORS =  *)
(* RS - AR and TRS = RS - RR can be had from ZooKeeper at every step.      *)
(***************************************************************************)
EXTENDS Wiki

Original(z) == Kept(z.replicas, Range(z.replicas) \ z.adding)      \* ORS
Requested(z) == Kept(z.replicas, Range(z.replicas) \ z.removing)   \* TRS
BeingMoved(z) == z.adding # {} \/ z.removing # {}

(* PartitionReplicaAssignment.reassignTo (2.4.1) *)
ReassignTo(z, target) ==
  LET all == Union(target, Original(z))
  IN [z EXCEPT !.replicas = all, !.adding = Range(all) \ Range(Original(z)), !.removing = Range(all) \ Range(target)]

(* KafkaController.isReassignmentComplete (2.4.1): TRS is a subset of the   *)
(* ISR, or there is nothing to move.                                       *)
Kip455Checks(w) ==
  IF BeingMoved(w.zk) /\ ~AllInIsr(w) THEN At(w, "455.A1")
  ELSE At([w EXCEPT !.me.old = w.zk.removing], "455.B3")

(* onPartitionReassignment (2.4.1): resumed where the znode says the same   *)
Kip455Begins(w) == IF ReassignTo(w.zk, w.me.target) = w.zk THEN Kip455Checks(w) ELSE At(w, "455.U1")

(* U1. Update assignment state in zookeeper. U2. Update assignment state in *)
(* memory. What the new assignment has no longer is stopped (U3).          *)
Kip455StepsU1AndU2(c) ==
  /\ ctl[c].pc = "455.U1"
  /\ LET z == ReassignTo(zk, ctl[c].target)
         w == SetReplicas([Work(c) EXCEPT !.zk = z, !.writes = TRUE], z.replicas)
         unneeded == Range(ctl[c].replicas) \ Range(z.replicas)
     IN Commit(c, IF unneeded = {} THEN Kip455Checks(w)
                  ELSE At([w EXCEPT !.me.todo = unneeded, !.me.old = unneeded], "455.U3"))

Kip455StepU3(c, r) ==
  /\ ctl[c].pc = "455.U3" /\ r \in ctl[c].todo
  /\ LET w == [ToOffline(Work(c), r) EXCEPT !.me.todo = @ \ {r}]
     IN Commit(c, IF w.me.todo = {} THEN Kip455Checks(ToNonExistent(w, w.me.old)) ELSE w)

(* AlterPartitionReassignments with null (2.4.1,                            *)
(* processApiPartitionReassignment): back to ORS; the request by znode goes *)
(* first.                                                                  *)
Cancel(c) ==
  /\ Protocol = "kip-455" /\ ctl[c].pc = "wait" /\ left.cancels > 0
  /\ MayWrite(c)
  /\ zk' = [zk EXCEPT !.admin = <<>>]
  /\ ctl' = [ctl EXCEPT ![c].target = Original(zk), ![c].pc = "455.U1"]
  /\ writers' = writers \cup {<<zk.cepoch, c>>}
  /\ left' = [left EXCEPT !.cancels = @ - 1]
  /\ UNCHANGED <<ofBrokers, queue, acked>>

(* A1. Send LeaderAndIsr request to every replica in ORS + TRS *)
Kip455StepA1(c) ==
  /\ ctl[c].pc = "455.A1"
  /\ Commit(c, At(RaiseEpochAndTell(Work(c), Range(ctl[c].replicas), Range(ctl[c].replicas)), "455.A2"))

(* A2. replicas in AR -> NewReplica *)
Kip455StepA2(c) ==
  /\ ctl[c].pc = "455.A2"
  /\ Commit(c, At(ToNew(Work(c), zk.adding), "wait"))

(* processPartitionReassignmentIsrChange (2.4.1) *)
Kip455Waits(c) ==
  /\ Protocol = "kip-455" /\ ctl[c].pc = "wait" /\ AllInIsr(Work(c))
  /\ Commit(c, Kip455Checks(Work(c)))

(* B1. replicas in AR -> OnlineReplica. B2. Set RS = TRS, AR = [], RR = []  *)
(* in memory. B3. Send LeaderAndIsr request with a potential new leader.   *)
Kip455StepsB1ToB3(c) ==
  /\ ctl[c].pc = "455.B3"
  /\ LET w == MoveLeader(SetReplicas(Work(c), ctl[c].target), ctl[c].target, Range(ctl[c].target))
     IN Commit(c, At([w EXCEPT !.me.todo = ctl[c].old], IF ctl[c].old = {} THEN "455.B6" ELSE "455.B4"))

(* B4. replicas in RR -> Offline. B5. replicas in RR -> NonExistentReplica. *)
Kip455StepsB4AndB5(c, r) ==
  /\ ctl[c].pc = "455.B4" /\ r \in ctl[c].todo
  /\ LET w == [ToOffline(Work(c), r) EXCEPT !.me.todo = @ \ {r}]
     IN Commit(c, IF w.me.todo = {} THEN At(ToNonExistent(w, w.me.old), "455.B6") ELSE w)

(* B6. Update ZK with RS = TRS, AR = [], RR = []. *)
Kip455StepB6(c) ==
  /\ ctl[c].pc = "455.B6" /\ Deleted(c)
  /\ Commit(c, At([Work(c) EXCEPT !.zk.replicas = ctl[c].target, !.zk.adding = {}, !.zk.removing = {}, !.writes = TRUE],
                  "455.B7"))

(* B7. Maybe update the /admin/reassign_partitions path in ZK. B8. Resend   *)
(* the update metadata request to every broker.                            *)
Kip455StepsB7AndB8(c) ==
  /\ ctl[c].pc = "455.B7"
  /\ LET w == IF zk.admin = ctl[c].target THEN RemoveFromAdmin(Work(c)) ELSE Work(c)
     IN Commit(c, At(UpdateMetadata([w EXCEPT !.me.target = <<>>, !.me.old = {}]), "idle"))

Kip455Next(c) ==
  \/ Kip455StepsU1AndU2(c) \/ Kip455StepA1(c) \/ Kip455StepA2(c) \/ Kip455Waits(c) \/ Kip455StepsB1ToB3(c)
  \/ \E r \in Brokers : Kip455StepU3(c, r) \/ Kip455StepsB4AndB5(c, r)
  \/ Kip455StepB6(c) \/ Kip455StepsB7AndB8(c)
=============================================================================
