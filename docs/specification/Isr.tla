---------------------------------- MODULE Isr ----------------------------------
(***************************************************************************)
(* The leader's side: appends, fetches of followers, the ISR that it grows *)
(* and shrinks by conditional writes to the partition's state znode, the   *)
(* high watermark, and the acknowledgement of acks=all.                    *)
(***************************************************************************)
EXTENDS Logs

(* Partition.maybeIncrementLeaderHW. 0.8.2.2 takes the least end over the  *)
(* ISR; since 0.10.2 (KAFKA-4485) the replicas that count are taken from   *)
(* the assigned ones, so that an ISR member that the leader was told is no *)
(* longer assigned does not hold it back. With KIP-497 the maximal ISR     *)
(* counts: what ZooKeeper has, and the member that is about to join.       *)
Counted(p, l) ==
  {l} \cup (IF CommitsOverAssigned THEN (p.isr \cup p.proposal) \cap p.assigned ELSE p.isr \cup p.proposal)
HighWatermark(p, l, end, before) ==
  LET least == Min({IF r = l THEN end ELSE p.ends[r] : r \in Counted(p, l)})
  IN IF least > before THEN least ELSE before

(* Partition.checkEnoughReplicasReachOffset (2.3.1): acks=all is answered  *)
(* when the high watermark has passed the record.                          *)
Safe(records, upto) == {<<i, records[i].id>> : i \in 1..upto}

(* ReplicaManager.appendToLocalLog, Partition.appendRecordsToLeader (2.3.1) *)
LeaderAppends(l) ==
  /\ Presumes(l) /\ left.records > 0
  /\ LET record == [id |-> MaxRecords - left.records + 1, epoch |-> part[l].epoch]
         grown == Append(log[l], record)
         mark == HighWatermark(part[l], l, Len(grown), hw[l])
     IN /\ log' = [log EXCEPT ![l] = grown]
        /\ cache' = [cache EXCEPT ![l] = Assigned(@, record.epoch, Len(grown) - 1)]
        /\ hw' = [hw EXCEPT ![l] = mark]
        /\ acked' = acked \cup Safe(grown, mark)
        /\ left' = [left EXCEPT !.records = @ - 1]
  /\ UNCHANGED <<alive, registered, disk, part, seen, zk, ofControllers>>

(* ReplicationUtils.updateLeaderAndIsr (2.3.1): a conditional write, with   *)
(* the controller epoch of the decision that made the leader; nothing else *)
(* fences it.                                                              *)
CanWrite(p) == zk.version = p.version
Written(p, l, isr) == [zk EXCEPT !.leader = l, !.epoch = p.epoch, !.isr = isr, !.version = @ + 1, !.by = p.decided]

(* Partition.maybeExpandIsr (2.3.1): up to the high watermark, and since   *)
(* KAFKA-7128 (2.0.1, 2.1) up to where the leader's epoch starts; since    *)
(* KAFKA-1097 (0.8.1) assigned ones only.                                  *)
MayJoin(p, f, end, mark) ==
  /\ f \notin p.isr /\ p.proposal = {}
  /\ f \in p.assigned \/ JoinsUnassigned
  /\ end >= mark
  /\ end >= p.start \/ JoinsBelowEpochStart

(* ReplicaManager.fetchMessages with AbstractFetcherThread.processFetch-    *)
(* Request (2.3.1), the whole exchange in one action: the leader reads,    *)
(* records how far the follower is, may take it into the ISR, may move its *)
(* high watermark; the follower appends one record. The answer carries the *)
(* high watermark of before.                                               *)
Fetch(f) ==
  /\ alive[f] /\ part[f].fetch = "fetching"
  /\ LET l == part[f].leader IN
       /\ l \in Brokers \ {f} /\ Presumes(l)
       /\ f \in part[l].assigned \/ JoinsUnassigned       \* to a stranger: empty data (KAFKA-5758)
       /\ LET hasEpoch == ~FetchesUnfenced /\ ~(SessionsForgetEpoch /\ part[f].session)
              check == EpochOfFetch(f, l, hasEpoch)
              end == Len(log[f])
              known == [part[l] EXCEPT !.ends[f] = end]
              joins == MayJoin(known, f, end, hw[l])
              writes == joins /\ ~IsrByController /\ CanWrite(known)
              leader == [known EXCEPT
                           !.isr = IF writes THEN @ \cup {f} ELSE @,
                           !.version = IF writes THEN @ + 1 ELSE @,
                           !.proposal = IF joins /\ IsrByController THEN known.isr \cup {f} ELSE @]
              mark == HighWatermark(leader, l, Len(log[l]), hw[l])
              gets == end < Len(log[l])
              grown == IF gets THEN Append(log[f], log[l][end + 1]) ELSE log[f]
          IN CASE check = "UNKNOWN_LEADER_EPOCH" -> FALSE
               [] check = "FENCED_LEADER_EPOCH" -> Fenced(f)
               [] end > Len(log[l]) ->   \* OFFSET_OUT_OF_RANGE: AbstractFetcherThread.fetchOffsetAndTruncate (2.3.1)
                    /\ log' = [log EXCEPT ![f] = CutLog(f, Len(log[l]))]
                    /\ cache' = [cache EXCEPT ![f] = CutCache(f, Len(log[l]))]
                    /\ hw' = [hw EXCEPT ![f] = Least(@, Len(log[l]))]
                    /\ part' = [part EXCEPT ![f].session = FALSE]
                    /\ UNCHANGED <<alive, registered, disk, seen, zk, ofControllers, acked, left>>
               [] OTHER ->
                    \E forgets \in IF ForgetsOwnIsrWrite /\ writes THEN BOOLEAN ELSE {FALSE} :
                      /\ log' = [log EXCEPT ![f] = grown]
                      /\ cache' = [cache EXCEPT ![f] = IF gets THEN Assigned(@, grown[end + 1].epoch, end) ELSE @]
                      /\ hw' = [hw EXCEPT ![f] = Least(hw[l], Len(grown)), ![l] = mark]
                      /\ part' = [part EXCEPT ![l] = IF forgets THEN known ELSE leader,
                                              ![f].session = ~gets /\ SessionsForgetEpoch]
                      /\ zk' = IF writes THEN Written(known, l, known.isr \cup {f}) ELSE zk
                      /\ acked' = acked \cup Safe(log[l], mark)
                      /\ UNCHANGED <<alive, registered, disk, seen, ofControllers, left>>

(* Partition.maybeShrinkIsr, getOutOfSyncReplicas (2.3.1): a follower that  *)
(* is behind, for longer than replica.lag.time.max.ms. Time is left out:   *)
(* any follower that is behind may have been so for long enough. Up to 2.0 *)
(* (0.8.2.2, 1.1.1; KAFKA-7152) also one that is not behind.               *)
ShrinkIsr(l, r) ==
  /\ Presumes(l) /\ left.shrinks > 0
  /\ r \in part[l].isr \ {l} /\ part[l].proposal = {}
  /\ part[l].ends[r] # Len(log[l]) \/ ShrinksCaughtUp
  /\ IF IsrByController THEN
       /\ part' = [part EXCEPT ![l].proposal = part[l].isr \ {r}]
       /\ UNCHANGED <<zk, hw, acked>>
     ELSE
       /\ CanWrite(part[l])
       /\ \E forgets \in IF ForgetsOwnIsrWrite THEN BOOLEAN ELSE {FALSE} :
            LET shrunk == [part[l] EXCEPT !.isr = @ \ {r}, !.version = @ + 1]
                p == IF forgets THEN part[l] ELSE shrunk
                mark == HighWatermark(p, l, Len(log[l]), hw[l])
            IN /\ part' = [part EXCEPT ![l] = p]
               /\ zk' = Written(part[l], l, part[l].isr \ {r})
               /\ hw' = [hw EXCEPT ![l] = mark]
               /\ acked' = acked \cup Safe(log[l], mark)
  /\ left' = [left EXCEPT !.shrinks = @ - 1]
  /\ UNCHANGED <<alive, registered, disk, log, cache, seen, ofControllers>>

(* KafkaController.processAlterIsr (2.7.2), KIP-497: the leader asks, the   *)
(* controller checks leader epoch and version and writes. What was refused *)
(* stays proposed until the next LeaderAndIsr (2.7.2 gives up).            *)
AlterIsr(c, l) ==
  /\ IsrByController /\ Waits(c) /\ zk.controller = {c}
  /\ Presumes(l) /\ part[l].proposal # {}
  /\ zk.leader = l /\ zk.epoch = part[l].epoch /\ CanWrite(part[l])
  /\ LET p == [part[l] EXCEPT !.isr = part[l].proposal, !.version = @ + 1, !.proposal = {}]
         mark == HighWatermark(p, l, Len(log[l]), hw[l])
     IN /\ part' = [part EXCEPT ![l] = p]
        /\ zk' = [zk EXCEPT !.isr = part[l].proposal, !.version = @ + 1, !.by = ctl[c].epoch]
        /\ ctl' = [ctl EXCEPT ![c].cached.isr = part[l].proposal]
        /\ writers' = writers \cup {<<zk.cepoch, c>>}
        /\ hw' = [hw EXCEPT ![l] = mark]
        /\ acked' = acked \cup Safe(log[l], mark)
  /\ UNCHANGED <<alive, registered, disk, log, cache, seen, queue, left>>
=============================================================================
