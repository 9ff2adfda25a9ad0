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
from scenarios.faults.actions.config_actions import ConfigSet
from scenarios.faults.actions.disks import DiskCorrupt, DiskFail, DiskFull, DiskHeal, DiskSlow, LogDirOffline
from scenarios.faults.actions.elections import ElectionPreferred, ElectionUnclean
from scenarios.faults.actions.healing import Heal
from scenarios.faults.actions.holds import GateHold, GateRelease
from scenarios.faults.actions.intercepted import MessageCut, MessageDelay, MessageHold, MessageRelease
from scenarios.faults.actions.links import (
    HostFlap,
    HostIsolate,
    HostReconnect,
    LinkCut,
    LinkDelay,
    LinkHeal,
    LinkLimit,
    LinkLoss,
)
from scenarios.faults.actions.machines import BrokerClock, BrokerClockSync, BrokerFast, BrokerSlow
from scenarios.faults.actions.mistakes import ReassignMistake
from scenarios.faults.actions.networks import NetworkHeal, NetworkPartition
from scenarios.faults.actions.programs import ClientCrash, ClientStart
from scenarios.faults.actions.reassignments import ReassignCancel, ReassignExecute, ReassignList, ReassignVerify
from scenarios.faults.actions.records_deleted import RecordsDelete
from scenarios.faults.actions.requests import RequestClear, RequestDelay, RequestDrop, RequestFail, RequestSilence
from scenarios.faults.actions.topic_actions import TopicCreate, TopicDelete, TopicExpand
from scenarios.faults.actions.zookeeper import (
    ControllerResign,
    ZkDelete,
    ZooKeeperFast,
    ZooKeeperSlow,
    ZooKeeperStart,
    ZooKeeperStop,
)

__all__ = [
    "BrokerClock",
    "BrokerClockSync",
    "BrokerControlledShutdown",
    "BrokerCrash",
    "BrokerFailStartReplica",
    "BrokerFast",
    "BrokerIgnoreBecomeLeader",
    "BrokerPause",
    "BrokerResume",
    "BrokerSlow",
    "BrokerStart",
    "BrokerStop",
    "ClientCrash",
    "ClientStart",
    "ConfigSet",
    "ControllerCrash",
    "ControllerResign",
    "DiskCorrupt",
    "DiskFail",
    "DiskFull",
    "DiskHeal",
    "DiskSlow",
    "ElectionPreferred",
    "ElectionUnclean",
    "FetcherFailPartition",
    "GateHold",
    "GateRelease",
    "Heal",
    "HostFlap",
    "HostIsolate",
    "HostReconnect",
    "LinkCut",
    "LinkDelay",
    "LinkHeal",
    "LinkLimit",
    "LinkLoss",
    "LogDirOffline",
    "MessageCut",
    "MessageDelay",
    "MessageHold",
    "MessageRelease",
    "NetworkHeal",
    "NetworkPartition",
    "ReassignCancel",
    "ReassignExecute",
    "ReassignList",
    "ReassignMistake",
    "ReassignVerify",
    "RecordsDelete",
    "RequestClear",
    "RequestDelay",
    "RequestDrop",
    "RequestFail",
    "RequestSilence",
    "TopicCreate",
    "TopicDelete",
    "TopicExpand",
    "ZkDelete",
    "ZkExpire",
    "ZooKeeperFast",
    "ZooKeeperSlow",
    "ZooKeeperStart",
    "ZooKeeperStop",
]
