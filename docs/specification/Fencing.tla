-------------------------------- MODULE Fencing --------------------------------
(***************************************************************************)
(* Elections of the controller, and who is fenced by what: brokers by      *)
(* controller epoch and leader epoch, controllers by the version of        *)
(* /controller_epoch. Brokers do not read ZooKeeper to learn who leads:    *)
(* they know what requests told them.                                      *)
(***************************************************************************)
EXTENDS Isr

(***************************************************************************)
(* The election of a controller                                            *)
(***************************************************************************)

(* KafkaController.elect, KafkaZkClient.registerControllerAndIncrement-    *)
(* ControllerEpoch (2.3.1): /controller and /controller_epoch in one multi. *)
(* Up to 2.0 they are two writes; here they are one in all releases.       *)
Elect(c) ==
  /\ zk.controller = {} /\ ~Active(c)
  /\ zk' = [zk EXCEPT !.controller = {c}, !.cepoch = @ + 1, !.cversion = @ + 1]
  /\ ctl' = [ctl EXCEPT ![c] = [NotController EXCEPT !.pc = "load", !.epoch = zk.cepoch + 1, !.version = zk.cversion + 1]]
  /\ writers' = writers \cup {<<zk.cepoch + 1, c>>}
  /\ UNCHANGED <<ofBrokers, queue, acked, left>>

(* The controller's process ends, and soon its session: what waits in its   *)
(* queues to the brokers is lost.                                          *)
ControllerDies(c) ==
  /\ zk.controller = {c} /\ left.failovers > 0
  /\ zk' = [zk EXCEPT !.controller = {}]
  /\ ctl' = [ctl EXCEPT ![c] = NotController]
  /\ queue' = [queue EXCEPT ![c] = NoRequests]
  /\ left' = [left EXCEPT !.failovers = @ - 1]
  /\ UNCHANGED <<ofBrokers, acked, writers>>

(* The session of the controller ends and /controller goes with it, but the *)
(* node does not know yet: until Resign it acts as before.                 *)
ControllerSessionExpires(c) ==
  /\ zk.controller = {c} /\ left.zombies > 0
  /\ zk' = [zk EXCEPT !.controller = {}]
  /\ left' = [left EXCEPT !.zombies = @ - 1]
  /\ UNCHANGED <<ofBrokers, ofControllers, acked>>

(* KafkaController.processExpire, maybeResign, onControllerResignation      *)
(* (2.3.1): what waits in the queues to the brokers is dropped.            *)
Resign(c) ==
  /\ Active(c) /\ zk.controller # {c}
  /\ ctl' = [ctl EXCEPT ![c] = NotController]
  /\ queue' = [queue EXCEPT ![c] = NoRequests]
  /\ UNCHANGED <<ofBrokers, zk, acked, writers, left>>

(* KafkaZkClient.retryRequestsUntilConnected with a check op (2.1,          *)
(* KAFKA-6082): a controller's write succeeds only at the version of       *)
(* /controller_epoch that it was elected with.                             *)
MayWrite(c) == WritesUnfenced \/ ctl[c].version = zk.cversion

(***************************************************************************)
(* The brokers' side of the controller's requests                          *)
(***************************************************************************)

LeaderAndIsr(me, state, replicas) ==
  [type |-> "LeaderAndIsr", by |-> me.epoch, leader |-> state.leader, epoch |-> state.epoch, isr |-> state.isr,
   version |-> state.version, replicas |-> replicas]
StopReplica(me, epoch, delete) == [type |-> "StopReplica", by |-> me.epoch, epoch |-> epoch, delete |-> delete]

(* Partition.makeLeader (2.3.1). A leader that leads on keeps what it knows *)
(* of the others' logs; one that is new does not know them.                *)
MakeLeader(b, m) ==
  LET end == Len(log[b])
      leads == part[b].leader = b
      known == {r \in m.replicas \cup m.isr : leads /\ r # b /\ r \in part[b].assigned \cup part[b].isr}
      p == [leader |-> b, epoch |-> m.epoch, assigned |-> m.replicas, isr |-> m.isr, proposal |-> {},
            version |-> m.version, decided |-> m.by, start |-> end,
            ends |-> [r \in Brokers |-> IF r \in known THEN part[b].ends[r] ELSE -1],
            fetch |-> "idle", session |-> FALSE]
      mark == HighWatermark(p, b, end, hw[b])
  IN /\ part' = [part EXCEPT ![b] = p]
     /\ cache' = IF EntersEpochWithRecord THEN cache ELSE [cache EXCEPT ![b] = Assigned(@, m.epoch, end)]
     /\ hw' = [hw EXCEPT ![b] = mark]
     /\ acked' = acked \cup Safe(log[b], mark)
     /\ disk' = [disk EXCEPT ![b] = TRUE]
     /\ UNCHANGED log

(* Partition.makeFollower, ReplicaManager.makeFollowers (2.3.1). Up to      *)
(* 0.10.2 (0.8.2.2 read) the log is cut at the high watermark at once.     *)
MakeFollower(b, m) ==
  /\ part' = [part EXCEPT ![b] =
       [NoPartition EXCEPT !.leader = m.leader, !.epoch = m.epoch, !.assigned = m.replicas, !.version = m.version,
          !.decided = m.by, !.fetch = IF TruncatesToHighWatermark THEN "fetching" ELSE "truncating"]]
  /\ log' = IF TruncatesToHighWatermark THEN [log EXCEPT ![b] = CutLog(b, hw[b])] ELSE log
  /\ cache' = IF TruncatesToHighWatermark THEN [cache EXCEPT ![b] = CutCache(b, hw[b])] ELSE cache
  /\ disk' = [disk EXCEPT ![b] = TRUE]
  /\ UNCHANGED <<hw, acked>>

(* ReplicaManager.becomeLeaderOrFollower (2.3.1): an older controller epoch *)
(* refuses the request, an older or equal leader epoch the partition. A    *)
(* leader of -1 is in no metadata cache, and the epoch is not recorded.    *)
BecomeLeaderOrFollower(b, m) ==
  IF m.epoch > part[b].epoch /\ (b \in m.replicas \/ JoinsUnassigned) /\ m.leader # None
  THEN IF m.leader = b THEN MakeLeader(b, m) ELSE MakeFollower(b, m)
  ELSE UNCHANGED <<disk, log, cache, hw, part, acked>>

(* ReplicaManager.stopReplicas, stopReplica (2.3.1): without deletion the   *)
(* fetcher stops and the Partition stays, a leader in its own view even;   *)
(* with it the log goes. KIP-570 (2.6) refuses an older leader epoch, and  *)
(* until KAFKA-13972 (3.4.1) the equal one.                                *)
StopReplicas(b, m) ==
  IF ~StopsUnfenced /\ (m.epoch < part[b].epoch \/ (RefusesStopInOwnEpoch /\ m.epoch = part[b].epoch))
  THEN UNCHANGED <<disk, log, cache, hw, part, acked>>
  ELSE IF m.delete THEN
    /\ part' = [part EXCEPT ![b] = NoPartition]
    /\ log' = [log EXCEPT ![b] = <<>>]
    /\ cache' = [cache EXCEPT ![b] = <<>>]
    /\ hw' = [hw EXCEPT ![b] = 0]
    /\ disk' = [disk EXCEPT ![b] = FALSE]
    /\ UNCHANGED acked
  ELSE
    /\ part' = [part EXCEPT ![b].fetch = "idle"]
    /\ UNCHANGED <<disk, log, cache, hw, acked>>

(* KafkaApis.handleLeaderAndIsrRequest, handleStopReplicaRequest (2.3.1):   *)
(* one request after the other from one controller's queue.                *)
HandleRequest(b, c) ==
  /\ alive[b] /\ queue[c][b] # <<>>
  /\ LET m == Head(queue[c][b]) IN
       IF m.by < seen[b] THEN UNCHANGED <<disk, log, cache, hw, part, acked, seen>>   \* STALE_CONTROLLER_EPOCH
       ELSE /\ seen' = [seen EXCEPT ![b] = m.by]
            /\ IF m.type = "LeaderAndIsr" THEN BecomeLeaderOrFollower(b, m) ELSE StopReplicas(b, m)
  /\ queue' = [queue EXCEPT ![c][b] = Tail(@)]
  /\ UNCHANGED <<alive, registered, zk, ctl, writers, left>>

(* RequestSendThread.doWork (2.3.1): where the connection breaks before the *)
(* answer comes, the request is sent again on a new one. The broker may    *)
(* still have the one of before, and carries that out too, maybe after     *)
(* later ones: KIP-570 calls StopReplica "vulnerable to reordering".       *)
SendsAgain(c, b) ==
  /\ queue[c][b] # <<>> /\ left.resends > 0
  /\ queue' = [queue EXCEPT ![c][b] = Append(@, Head(@))]
  /\ left' = [left EXCEPT !.resends = @ - 1]
  /\ UNCHANGED <<ofBrokers, zk, ctl, writers, acked>>

(***************************************************************************)
(* Brokers that die and come back                                          *)
(***************************************************************************)

(* A broker's process ends. Logs, epoch caches and high watermarks are on  *)
(* disk; what was told by requests is not.                                 *)
BrokerDies(b) ==
  /\ alive[b] /\ left.deaths > 0
  /\ alive' = [alive EXCEPT ![b] = FALSE]
  /\ registered' = [registered EXCEPT ![b] = FALSE]
  /\ part' = [part EXCEPT ![b] = NoPartition]
  /\ seen' = [seen EXCEPT ![b] = 0]
  /\ left' = [left EXCEPT !.deaths = @ - 1]
  /\ UNCHANGED <<disk, log, cache, hw, zk, ofControllers, acked>>

(* Its ZooKeeper session ends, but the process goes on as it was: it leads, *)
(* or fetches, while the cluster counts it as dead.                        *)
BrokerSessionExpires(b) ==
  /\ alive[b] /\ registered[b] /\ left.expiries > 0
  /\ registered' = [registered EXCEPT ![b] = FALSE]
  /\ left' = [left EXCEPT !.expiries = @ - 1]
  /\ UNCHANGED <<alive, disk, log, cache, hw, part, seen, zk, ofControllers, acked>>

(* KafkaServer.startup, KafkaController.processRegisterBrokerAndReelect     *)
(* (2.3.1). Here only after the controller has seen the death: a broker    *)
(* that bounces unseen (KAFKA-7235, KIP-380) is left out.                  *)
BrokerComesBack(b) ==
  /\ ~registered[b]
  /\ \A c \in Controllers : Active(c) => b \notin ctl[c].live
  /\ alive' = [alive EXCEPT ![b] = TRUE]
  /\ registered' = [registered EXCEPT ![b] = TRUE]
  /\ UNCHANGED <<disk, log, cache, hw, part, seen, zk, ofControllers, acked, left>>
=============================================================================
