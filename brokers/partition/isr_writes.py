"""How a change of the ISR gets into ZooKeeper: by the leader's own conditional write, or by AlterIsr (KIP-497, 2.7)."""

from attrs import frozen

from brokers.partition.isr_write import IsrWrite
from emulator.protocol.znodes import LeaderAndIsr, state_path
from emulator.zookeeper import GetData, Response, SetData, ZkCode


@frozen
class ByZooKeeper:
    """The leader writes the state znode, at the version that it knows (kafka-behaviour, 7.6).

    A write that fails is tried again whenever there is reason to, and fails each time until a LeaderAndIsr brings a new
    version.

    Attributes:
        compares: a write that is refused for its version counts if what stands there is the same: it was applied before
            its connection was lost (KAFKA-1382, 0.8.2). False: refused is refused.
    """

    compares: bool = True
    holds_high_watermark: bool = True
    outcome_moves_high_watermark: bool = True
    announced: bool = True

    def begin(self, write: IsrWrite) -> None:
        p = write.partition
        wanted = LeaderAndIsr(p.process.node.id, p.leader_epoch, write.isr, p.controller_epoch, p.zk_version)
        path, data = state_path(p.tp), wanted.encode()

        def compared(response: Response) -> None:
            if response.data == data:
                learn(response)
            elif not write.abandoned:
                write.refused("cached zkVersion not equal", for_good=False)

        def learn(response: Response) -> None:
            if write.abandoned:
                return
            if response.error is ZkCode.OK:
                assert response.stat is not None
                write.taken(write.isr, response.stat.version)
            elif response.error is ZkCode.BAD_VERSION and self.compares:
                p.manager.zk.submit(GetData(path), compared)
            else:
                write.refused("cached zkVersion not equal", for_good=False)

        p.manager.zk.submit(SetData(path, data, p.zk_version), learn)


@frozen
class ByController:
    """The controller is asked, and validates, writes and answers (Partition.sendAlterIsrRequest, 2.7.2).

    Until it has answered, who is to join counts and who is to leave counts still. A refusal is for good: the change
    stays undecided until a LeaderAndIsr, also where Kafka means to try again (its queue has that partition yet, and
    throws).

    Attributes:
        outcome_moves_high_watermark: False: KAFKA-13091 (3.0) is to come. The next append or fetch sees to it.
    """

    holds_high_watermark: bool = False
    outcome_moves_high_watermark: bool = False
    announced: bool = False

    def begin(self, write: IsrWrite) -> None:
        partition = write.partition
        for remote in partition.remotes.values():
            remote.in_isr = remote.in_isr or remote.broker in write.isr
        assert partition.manager.alter_isr is not None
        partition.manager.alter_isr.submit(write)
