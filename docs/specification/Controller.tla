-------------------------------- MODULE Controller --------------------------------
(***************************************************************************)
(* The controller's events beside a move's own steps: failover and         *)
(* resumption, brokers that fail and start, elections that somebody asks   *)
(* for, and the request for a move.                                        *)
(***************************************************************************)
EXTENDS Kafka42, Kafka6794, Kip455

Begins(w) ==
  CASE Protocol = "wiki" -> WikiBegins(w)
    [] Protocol = "kafka-42" -> Kafka42Begins(w)
    [] Protocol = "kafka-6794" -> Kafka6794Begins(w)
    [] Protocol = "kip-455" -> Kip455Begins(w)

(***************************************************************************)
(* A move                                                                  *)
(***************************************************************************)

(* ReassignPartitionsCommand.reassignPartitions, KafkaZkClient.create-      *)
(* PartitionReassignment (2.3.1): only where there is no such znode.       *)
ToolAsksForMove ==
  /\ left.moves > 0 /\ zk.admin = <<>>
  /\ zk' = [zk EXCEPT !.admin = After]
  /\ left' = [left EXCEPT !.moves = @ - 1]
  /\ UNCHANGED <<ofBrokers, ofControllers, acked>>

(* KafkaController.processPartitionReassignment, maybeTriggerPartition-     *)
(* Reassignment (2.3.1); a move to the list that is there is done.         *)
Trigger(w) ==
  IF w.me.replicas = w.me.target /\ ~BeingMoved(w.zk)
  THEN At([RemoveFromAdmin(w) EXCEPT !.me.target = <<>>], "idle")
  ELSE Begins(w)

PartitionReassignment(c) ==
  /\ ctl[c].pc = "idle" /\ zk.admin # <<>> /\ ctl[c].target = <<>>
  /\ Commit(c, Trigger([Work(c) EXCEPT !.me.target = zk.admin]))

(***************************************************************************)
(* The page's onControllerFailover                                         *)
(***************************************************************************)

(* KafkaController.initializeControllerContext (2.3.1): what is read now is *)
(* what the new controller knows.                                          *)
InitializeControllerContext(c) ==
  /\ ctl[c].pc = "load"
  /\ ctl' = [ctl EXCEPT ![c].pc = "startup", ![c].live = {b \in Brokers : registered[b]}, ![c].replicas = zk.replicas,
                        ![c].cached = [leader |-> zk.leader, epoch |-> zk.epoch, isr |-> zk.isr],
                        ![c].target = IF zk.admin # <<>> THEN zk.admin
                                      ELSE IF BeingMoved(zk) THEN Requested(zk) ELSE <<>>]
  /\ UNCHANGED <<ofBrokers, zk, queue, acked, writers, left>>

RECURSIVE AllToOffline(_, _)
AllToOffline(w, S) == IF S = {} THEN w ELSE LET r == Min(S) IN AllToOffline(ToOffline(w, r), S \ {r})

(* 1. replicaStateMachine.startup(): each replica -> OnlineReplica (force   *)
(* LeaderAndIsr request to be sent to every replica), the dead ones out of *)
(* the ISR (KAFKA-3143, 2.3). 2. partitionStateMachine.startup(): each     *)
(* OfflinePartition -> OnlinePartition (force leader election).            *)
StateMachinesStartUp(c) ==
  /\ ctl[c].pc = "startup"
  /\ LET w == Work(c)
         assigned == Range(w.me.replicas)
         c0 == w.me.cached
         announced == Tell(w, assigned \cap w.me.live,
                           [leader |-> c0.leader, epoch |-> c0.epoch, isr |-> c0.isr, version |-> zk.version], assigned)
         shrunk == AllToOffline(announced, assigned \ w.me.live)
         led == IF shrunk.me.cached.leader \in w.me.live THEN shrunk ELSE ElectForOffline(shrunk)
     IN Commit(c, At(led, "resume"))

(* 3. resume partition reassignment, if any. 2.3.1 calls maybeTrigger-      *)
(* PartitionReassignment and removePartitionsFromReassignedPartitions with *)
(* no partition too, and the latter deletes the znode when no move is left *)
(* in memory: also one that came after it was read.                        *)
ResumeReassignment(c) ==
  /\ ctl[c].pc = "resume"
  /\ Commit(c, IF ctl[c].target # <<>> THEN
                 LET w == Trigger(Work(c))
                 IN IF Protocol = "kafka-6794" /\ w.me.pc = "6794.1" THEN Kafka6794Announces(w) ELSE w
               ELSE IF DeletesMoveUnread THEN At(RemoveFromAdmin(Work(c)), "idle")
               ELSE At(Work(c), "idle"))

(***************************************************************************)
(* The page's onBrokerFailure, onBrokerStartup                             *)
(***************************************************************************)

(* KafkaController.processBrokerChange, onBrokerFailure, onReplicasBecome-  *)
(* Offline (2.3.1): 1. partitions w/o leader -> OfflinePartition, 2. and   *)
(* elected, 3. each replica on the failed broker -> OfflineReplica.        *)
BrokerFailure(c, b) ==
  /\ Waits(c) /\ b \in ctl[c].live /\ ~registered[b]
  /\ LET w == [Work(c) EXCEPT !.me.live = @ \ {b}]
         led == IF w.me.cached.leader \in w.me.live THEN w ELSE ElectForOffline(w)
     IN Commit(c, IF b \in Range(w.me.replicas) THEN ToOffline(led, b) ELSE led)

(* KafkaController.onBrokerStartup (2.3.1): 2. replicas on the newly        *)
(* started broker -> OnlineReplica, 3. elections where there is no leader, *)
(* 4. onPartitionReassignment where the target has the broker.             *)
BrokerStartup(c, b) ==
  /\ Waits(c) /\ b \notin ctl[c].live /\ registered[b]
  /\ LET w == [Work(c) EXCEPT !.me.live = @ \cup {b}]
         c0 == w.me.cached
         state == [leader |-> c0.leader, epoch |-> c0.epoch, isr |-> c0.isr, version |-> zk.version]
         online == IF b \in Range(w.me.replicas) THEN Tell(w, {b}, state, Range(w.me.replicas)) ELSE w
         led == IF c0.leader \in w.me.live THEN online ELSE ElectForOffline(online)
     IN Commit(c, IF w.me.pc = "wait" /\ b \in Range(w.me.target) THEN Begins(led) ELSE led)

(***************************************************************************)
(* The page's onPreferredReplicaElection, generalised: any member of the    *)
(* ISR may be the preferred one, so that one action stands for the tool,   *)
(* the balancer and controlled shutdown. Who leads already is elected too,  *)
(* in the next epoch.                                                      *)
(***************************************************************************)
ReplicaElection(c, r) ==
  /\ Waits(c) /\ left.elections > 0 /\ zk.controller = {c} /\ MayWrite(c)
  /\ r \in ctl[c].live \cap zk.isr \cap Range(ctl[c].replicas)
  /\ LET d == Decide(Work(c), r, zk.isr)
         w == Tell(d, Range(ctl[c].replicas), State(d.zk), Range(ctl[c].replicas))
     IN /\ zk' = w.zk
        /\ ctl' = [ctl EXCEPT ![c] = w.me]
        /\ queue' = [queue EXCEPT ![c] = [b \in Brokers |-> IF b \in w.me.live THEN @[b] \o w.out[b] ELSE <<>>]]
              /\ writers' = writers \cup {<<zk.cepoch, c>>}
        /\ left' = [left EXCEPT !.elections = @ - 1]
  /\ UNCHANGED <<ofBrokers, acked>>

ControllerNext(c) ==
  \/ PartitionReassignment(c) \/ InitializeControllerContext(c) \/ StateMachinesStartUp(c) \/ ResumeReassignment(c)
  \/ \E b \in Brokers : BrokerFailure(c, b) \/ BrokerStartup(c, b)
  \/ WikiNext(c) \/ Kafka42Next(c) \/ Kafka6794Next(c) \/ Kip455Next(c)
=============================================================================
