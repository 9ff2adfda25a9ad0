--------------------------------- MODULE Logs ---------------------------------
(***************************************************************************)
(* Logs and epochs: what a log holds, where a new follower cuts its own,   *)
(* and the fetch that brings it the leader's next record.                  *)
(*                                                                         *)
(* KIP-101 (0.11), KIP-279 (2.0), KIP-320 (2.1).                           *)
(***************************************************************************)
EXTENDS Cluster

CutLog(b, to) == SubSeq(log[b], 1, Least(to, Len(log[b])))

(* LeaderEpochFileCache.truncateFromEnd (2.3.1): entries that start at or  *)
(* after the new end go.                                                   *)
CutCache(b, to) == SelectSeq(cache[b], LAMBDA e : e.start < to)

(* LeaderEpochFileCache.assign, truncateAndAppend (2.3.1): an epoch is      *)
(* entered where it starts, and earlier ones that start there or later go. *)
Assigned(entries, epoch, start) ==
  IF entries # <<>> /\ entries[Len(entries)].epoch >= epoch THEN entries
  ELSE Append(SelectSeq(entries, LAMBDA e : e.start < start), [epoch |-> epoch, start |-> start])

Undefined == -1

(* What a leader answers to OffsetsForLeaderEpoch:                         *)
(* LeaderEpochFileCache.endOffsetFor (1.1.1, 2.3.1). Before KIP-279 the    *)
(* answer had no epoch, so the follower could not see that the leader      *)
(* spoke of another one. Before KAFKA-7415 the latest epoch is that of the *)
(* last record.                                                            *)
LatestEpoch(l) ==
  IF ~EntersEpochWithRecord THEN part[l].epoch
  ELSE IF cache[l] = <<>> THEN Undefined ELSE cache[l][Len(cache[l])].epoch
Answer(l, epoch) ==
  LET entries == Range(cache[l])
      later == {e \in entries : e.epoch > epoch}
      upto == {e \in entries : e.epoch <= epoch}
      ends == Min({e.start : e \in later})
      known == Max({e.epoch : e \in upto})
  IN CASE epoch = LatestEpoch(l) -> [epoch |-> epoch, end |-> Len(log[l])]
       [] later = {} -> [epoch |-> Undefined, end |-> Undefined]
       [] upto = {} -> IF AnswersEpochsCoarsely THEN [epoch |-> Undefined, end |-> Undefined]
                       ELSE [epoch |-> epoch, end |-> ends]
       [] OTHER -> [epoch |-> IF AnswersEpochsCoarsely THEN Undefined ELSE known, end |-> ends]

(* Where a follower cuts, and whether it has to ask again:                 *)
(* AbstractFetcherThread.getOffsetTruncationState (2.3.1). It looks the    *)
(* answer's epoch up in its own cache by the rule of Answer: where all     *)
(* that it has are later, that epoch ends where the first of them starts.  *)
Truncation(f, answer) ==
  LET mine == {e \in Range(cache[f]) : e.epoch <= answer.epoch}
      found == IF mine = {} THEN answer.epoch ELSE Max({e.epoch : e \in mine})
      after == {e \in Range(cache[f]) : e.epoch > found}
      myEnd == IF after = {} THEN Len(log[f]) ELSE Min({e.start : e \in after})
  IN CASE answer.end = Undefined -> [to |-> hw[f], done |-> TRUE]
       [] answer.epoch = Undefined -> [to |-> Least(answer.end, Len(log[f])), done |-> TRUE]
       [] found # answer.epoch -> [to |-> Least(myEnd, Len(log[f])), done |-> FALSE]
       [] OTHER -> [to |-> Least(Least(myEnd, answer.end), Len(log[f])), done |-> TRUE]

(* Partition.checkCurrentLeaderEpoch (2.3.1). The request may have no epoch. *)
EpochOfFetch(f, l, hasEpoch) ==
  CASE ~hasEpoch -> "unchecked"
    [] part[f].epoch < part[l].epoch -> "FENCED_LEADER_EPOCH"
    [] part[f].epoch > part[l].epoch -> "UNKNOWN_LEADER_EPOCH"
    [] OTHER -> "NONE"

(* AbstractFetcherThread.onPartitionFenced (2.3.1): KIP-461 marks the      *)
(* partition failed; KAFKA-9654 (2.5) first looks whether the epoch is     *)
(* still the follower's.                                                   *)
Fenced(f) ==
  /\ part' = [part EXCEPT ![f].fetch = IF FencedFetchFails THEN "failed" ELSE @, ![f].session = FALSE]
  /\ UNCHANGED <<alive, registered, disk, log, cache, hw, seen, zk, ofControllers, acked, left>>

(* AbstractFetcherThread.maybeTruncate, truncateToEpochEndOffsets (2.3.1): *)
(* one question, one cut. Without an epoch to ask about, the log is cut at *)
(* the high watermark (truncateToHighWatermark).                           *)
TruncateToEpochEndOffset(f) ==
  /\ alive[f] /\ part[f].fetch = "truncating"
  /\ LET l == part[f].leader IN
       /\ l \in Brokers /\ Presumes(l)
       /\ LET check == EpochOfFetch(f, l, ~FetchesUnfenced)
              asked == cache[f][Len(cache[f])].epoch
              cut == IF cache[f] = <<>> THEN [to |-> hw[f], done |-> TRUE] ELSE Truncation(f, Answer(l, asked))
          IN CASE check = "UNKNOWN_LEADER_EPOCH" -> FALSE
               [] check = "FENCED_LEADER_EPOCH" -> Fenced(f)
               [] OTHER ->
                    /\ log' = [log EXCEPT ![f] = CutLog(f, cut.to)]
                    /\ cache' = [cache EXCEPT ![f] = CutCache(f, cut.to)]
                    /\ hw' = [hw EXCEPT ![f] = Least(@, cut.to)]
                    /\ part' = [part EXCEPT ![f].fetch = IF cut.done THEN "fetching" ELSE @]
                    /\ UNCHANGED <<alive, registered, disk, seen, zk, ofControllers, acked, left>>
=============================================================================
