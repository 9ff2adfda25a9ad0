----------------------------- MODULE StateMachines -----------------------------
(***************************************************************************)
(* What the controller does in a state change: reads and writes ZooKeeper, *)
(* keeps its cache, and puts requests into the queues. Each operator takes *)
(* the work so far and returns it with one thing more done; an action      *)
(* commits it.                                                             *)
(***************************************************************************)
EXTENDS Fencing

Work(c) == [zk |-> zk, me |-> ctl[c], out |-> NoRequests, writes |-> FALSE]

(* A crash between a write and its requests is not another behaviour than  *)
(* one after them, since the requests wait in the queues of a controller   *)
(* that died, and go with it.                                              *)
Commit(c, w) ==
  /\ w.writes => MayWrite(c)
  /\ zk' = w.zk
  /\ ctl' = [ctl EXCEPT ![c] = w.me]
  /\ queue' = [queue EXCEPT ![c] = [b \in Brokers |-> IF b \in w.me.live THEN @[b] \o w.out[b] ELSE <<>>]]
  /\ writers' = IF w.writes THEN writers \cup {<<zk.cepoch, c>>} ELSE writers
  /\ UNCHANGED <<ofBrokers, acked, left>>

At(w, pc) == [w EXCEPT !.me.pc = pc]

(* ControllerBrokerRequestBatch.addLeaderAndIsrRequestForBrokers (2.3.1):   *)
(* with it goes an UpdateMetadata to all, out of the controller's cache.   *)
Tell(w, to, state, replicas) ==
  [w EXCEPT !.out = [b \in Brokers |-> IF b \in to THEN Append(@[b], LeaderAndIsr(w.me, state, replicas)) ELSE @[b]],
            !.me.told = w.me.cached.epoch]
TellStop(w, r, delete) == [w EXCEPT !.out[r] = Append(@, StopReplica(w.me, w.me.cached.epoch, delete))]

(* KafkaController.sendUpdateMetadataRequest (2.3.1) *)
UpdateMetadata(w) == [w EXCEPT !.me.told = w.me.cached.epoch]

State(z) == [leader |-> z.leader, epoch |-> z.epoch, isr |-> z.isr, version |-> z.version]

(* KafkaZkClient.updateLeaderAndIsr (2.3.1), repeated until it meets the    *)
(* version that it has read, so here in one. What another controller wrote *)
(* with a higher epoch is left alone.                                      *)
MayDecide(w) == w.zk.by <= w.me.epoch
Decide(w, leader, isr) ==
  LET z == [w.zk EXCEPT !.leader = leader, !.isr = isr, !.epoch = @ + 1, !.version = @ + 1, !.by = w.me.epoch]
  IN [w EXCEPT !.zk = z, !.writes = TRUE, !.me.cached = [leader |-> leader, epoch |-> z.epoch, isr |-> isr]]

(* KafkaController.updateLeaderEpochAndSendRequest, updateLeaderEpoch       *)
(* (2.3.1): same leader, same ISR, next epoch. KAFKA-9212 (2.4.0): the     *)
(* cache did not get it.                                                   *)
RaiseEpochAndTell(w, to, replicas) ==
  IF ~MayDecide(w) THEN w
  ELSE LET d == Decide(w, w.zk.leader, w.zk.isr)
           kept == IF CachedLeadershipStale THEN [d EXCEPT !.me.cached = w.me.cached] ELSE d
       IN Tell(kept, to, State(d.zk), replicas)

(* Election.leaderForOffline (2.3.1), the page's OfflinePartitionLeader-    *)
(* Selector.                                                               *)
ElectForOffline(w) ==
  LET assigned == w.me.replicas
      clean == First(assigned, w.me.live \cap w.zk.isr)
      any == First(assigned, w.me.live)
      leader == IF clean # None THEN clean ELSE IF ElectsUnclean THEN any ELSE None
      isr == IF leader = clean THEN w.zk.isr \cap w.me.live ELSE {leader}
  IN IF leader = None \/ ~MayDecide(w) THEN w
     ELSE LET d == Decide(w, leader, isr) IN Tell(d, Range(assigned) \cap w.me.live, State(d.zk), Range(assigned))

(* Election.leaderForReassign (2.3.1), the page's ReassignedPartition-      *)
(* LeaderSelector: same ISR; the target gets the request.                  *)
ElectForReassign(w, candidates) ==
  LET leader == First(candidates, w.me.live \cap w.zk.isr)
  IN IF leader = None \/ ~MayDecide(w) THEN w
     ELSE LET d == Decide(w, leader, w.zk.isr) IN Tell(d, Range(candidates), State(d.zk), Range(w.me.replicas))

(* The page's NewReplica, OnlineReplica -> OfflineReplica; ReplicaState-    *)
(* Machine.doRemoveReplicasFromIsr (2.3.1): StopReplica without deletion,  *)
(* out of the ISR unless it is the last member and elections are clean     *)
(* (KAFKA-1028; 0.8.0 empties it, 0.8.2.2 by default), and a request to the *)
(* others (the page and 0.8.0: to the leader only).                        *)
ToOffline(w, r) ==
  LET stopped == TellStop(w, r, FALSE)
      others == IF Protocol = "kafka-42" THEN {w.zk.leader} ELSE Range(w.me.replicas) \ {r}
  IN IF ~MayDecide(w) THEN stopped
     ELSE IF r \in w.zk.isr THEN
       LET d == Decide(stopped, IF w.zk.leader = r THEN None ELSE w.zk.leader,
                       IF w.zk.isr = {r} /\ ~ElectsUnclean THEN w.zk.isr ELSE w.zk.isr \ {r})
       IN Tell(d, others, State(d.zk), Range(w.me.replicas))
     ELSE
       LET refreshed == [stopped EXCEPT !.me.cached = [leader |-> w.zk.leader, epoch |-> w.zk.epoch, isr |-> w.zk.isr]]
       IN Tell(refreshed, others, State(w.zk), Range(w.me.replicas))

(* The page's OfflineReplica -> NonExistentReplica: StopReplica with        *)
(* deletion, to each.                                                      *)
ToNonExistent(w, S) ==
  [w EXCEPT !.out = [b \in Brokers |-> IF b \in S THEN Append(@[b], StopReplica(w.me, w.me.cached.epoch, TRUE)) ELSE @[b]]]

(* KafkaController.moveReassignedPartitionLeaderIfRequired (2.3.1): a       *)
(* leader outside the target, or one that is dead, is replaced; else the   *)
(* epoch is raised. It looks at the leader in the cache.                   *)
MoveLeader(w, candidates, to) ==
  IF w.me.cached.leader \in Range(candidates) \cap w.me.live
  THEN RaiseEpochAndTell(w, to, Range(w.me.replicas))
  ELSE ElectForReassign(w, candidates)

(* The page's NonExistentReplica -> NewReplica: out of the cache, as it is. *)
ToNew(w, S) ==
  LET c == w.me.cached
      state == [leader |-> c.leader, epoch |-> c.epoch, isr |-> c.isr, version |-> w.zk.version]
  IN Tell(w, S, state, Range(w.me.replicas))

SetReplicas(w, replicas) == [w EXCEPT !.me.replicas = replicas]                      \* in memory
WriteReplicas(w, replicas) == [w EXCEPT !.zk.replicas = replicas, !.writes = TRUE]  \* in the topic's znode

(* KafkaController.removePartitionsFromReassignedPartitions (2.3.1),        *)
(* maybeRemoveFromZkReassignment (2.4.1, which looks at what is there).    *)
RemoveFromAdmin(w) == [w EXCEPT !.zk.admin = <<>>, !.writes = TRUE]
=============================================================================
