"""The actions that an entry of a method may have, one class for each action of a scenario file (``understudy list
actions``)."""

from scenarios.faults.actions.brokers import (
    BrokerControlledShutdown,
    BrokerCrash,
    BrokerFailStartReplica,
    BrokerIgnoreBecomeLeader,
    BrokerPause,
    BrokerResume,
    BrokerStart,
    BrokerStop,
    ControllerCrash,
    FetcherFailPartition,
    ZkExpire,
)
from scenarios.faults.actions.disks import DiskCorrupt, DiskFail, DiskFull, DiskHeal, DiskSlow, LogDirOffline
from scenarios.faults.actions.elections import ElectionPreferred
from scenarios.faults.actions.holds import GateHold, GateRelease
from scenarios.faults.actions.intercepted import MessageCut, MessageDelay, MessageHold, MessageRelease
from scenarios.faults.actions.links import HostIsolate, HostReconnect, LinkCut, LinkDelay, LinkHeal
from scenarios.faults.actions.reassignments import ReassignCancel, ReassignExecute, ReassignList, ReassignVerify
from scenarios.faults.actions.settings import ConfigSet
from scenarios.faults.actions.topics import TopicCreate, TopicDelete, TopicExpand
from scenarios.faults.actions.zookeeper import ZooKeeperStart, ZooKeeperStop

__all__ = [
    "BrokerControlledShutdown",
    "BrokerCrash",
    "BrokerFailStartReplica",
    "BrokerIgnoreBecomeLeader",
    "BrokerPause",
    "BrokerResume",
    "BrokerStart",
    "BrokerStop",
    "ConfigSet",
    "ControllerCrash",
    "DiskCorrupt",
    "DiskFail",
    "DiskFull",
    "DiskHeal",
    "DiskSlow",
    "ElectionPreferred",
    "FetcherFailPartition",
    "GateHold",
    "GateRelease",
    "HostIsolate",
    "HostReconnect",
    "LinkCut",
    "LinkDelay",
    "LinkHeal",
    "LogDirOffline",
    "MessageCut",
    "MessageDelay",
    "MessageHold",
    "MessageRelease",
    "ReassignCancel",
    "ReassignExecute",
    "ReassignList",
    "ReassignVerify",
    "TopicCreate",
    "TopicDelete",
    "TopicExpand",
    "ZkExpire",
    "ZooKeeperStart",
    "ZooKeeperStop",
]
