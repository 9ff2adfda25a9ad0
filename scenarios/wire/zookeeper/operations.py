"""The conversion of operations, one at a time: the body of a request becomes a request to the emulated ensemble, its
answer the body of a response."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from emulator.zookeeper import (
    Check,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Op,
    Request,
    SetData,
    ZkCode,
    ZkResponse,
)
from scenarios.wire.zookeeper.ensemble import ServedZooKeeper
from scenarios.wire.zookeeper.jute import MalformedRecord
from scenarios.wire.zookeeper.jute_records import IN_MULTI, RESPONSES, OpCode, read_multi, write_multi_results
from scenarios.wire.zookeeper.jute_records import Op as WireOp
from scenarios.wire.zookeeper.zookeeper_codes import Code, RefusedOperation

Body = Mapping[str, Any]
OPEN_ACL = [{"perms": 31, "scheme": "world", "id": "anyone"}]
_EPHEMERAL, _SEQUENTIAL, _FLAGS = 1, 2, 3
_NOT_IN_PATHS = re.compile("[\0-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")
"""Characters that ZooKeeper's PathUtils.validatePath refuses (3.4)."""
MOST_OF_A_PATH = 1024
"""The most characters of a path: no path of Kafka has half as many."""
_BARRIER = Exists("/")
"""A read in place of a request that ZooKeeper need not see, so that its answer keeps its place among the others."""


class Asked(NamedTuple):
    """A request to the ensemble.

    Attributes:
        watch: whether the read arms a watch.
        answer: returns the error code and the body for the client.
    """

    request: Request
    watch: bool
    answer: Callable[[ZkResponse], tuple[int, bytes]]


def translated(code: OpCode, body: Body, zookeeper: ServedZooKeeper) -> Asked:
    """The request to the ensemble for an operation. Raises: RefusedOperation; MalformedRecord."""
    if code in IN_MULTI and code is not OpCode.CHECK:
        op = _op(code, body, zookeeper)
        return Asked(op, False, lambda response: _answer(code, response, _result(code, response)))
    path = _path(body["path"])
    if code is OpCode.EXISTS and "\0" in path:
        raise _no_path(path)
    if code in _READS:
        return _read(code, path, body["watch"], zookeeper)
    if code is OpCode.SYNC:
        return Asked(_BARRIER, False, lambda _: (0, RESPONSES[code].write({"path": path})))
    if code is OpCode.SET_ACL:
        _check_acl(body["acl"])
        # Version 0 is that of all ACLs here, which never change.
        if body["version"] not in (-1, 0):
            return Asked(Exists(path), False, lambda response: (response.error or ZkCode.BAD_VERSION, b""))
    elif code is not OpCode.GET_ACL:
        raise RefusedOperation(Code.UNIMPLEMENTED, f"operation {code.value} is allowed in a multi only")
    return Asked(Exists(path), False, lambda response: _answer(code, response, {"acl": OPEN_ACL}))


_READS: Mapping[OpCode, type[GetData | Exists | GetChildren]] = {
    OpCode.GET_DATA: GetData,
    OpCode.EXISTS: Exists,
    OpCode.GET_CHILDREN: GetChildren,
    OpCode.GET_CHILDREN2: GetChildren,
}


def _read(code: OpCode, path: str, watch: bool, zookeeper: ServedZooKeeper) -> Asked:
    def answer(response: ZkResponse) -> tuple[int, bytes]:
        if code is not OpCode.GET_DATA or response.error is not ZkCode.OK:
            return _answer(code, response, {"children": list(response.children)})
        return _answer(code, response, {"data": zookeeper.payloads.to_client(path, response.data)})

    return Asked(_READS[code](path), watch, answer)


def _answer(code: OpCode, response: ZkResponse, body: Body) -> tuple[int, bytes]:
    if response.error is not ZkCode.OK:
        return response.error, b""
    return 0, RESPONSES[code].write({**body, "stat": response.details})


def _result(code: OpCode, response: ZkResponse) -> Body:
    """The body of the result of a write, alone or in a multi."""
    return {"path": response.path, "stat": response.details}


# -- writes -----------------------------------------------------------------------------------------------------------


def _op(code: OpCode, body: Body, zookeeper: ServedZooKeeper) -> Op:
    """The write to the ensemble for an operation. Raises: RefusedOperation."""
    path = _path(body["path"])
    if code in (OpCode.CREATE, OpCode.CREATE2):
        flags = body["flags"]
        if not 0 <= flags <= _FLAGS:
            raise RefusedOperation(
                Code.UNIMPLEMENTED, "containers and znodes that end by themselves came with 3.5 and 3.6"
            )
        is_sequential = bool(flags & _SEQUENTIAL)
        _new_path(f"{path}1" if is_sequential else path)
        _check_acl(body["acl"])
        data = _data(path, body["data"], zookeeper, sequential=is_sequential)
        return Create(path, data, bool(flags & _EPHEMERAL), is_sequential)
    if code is OpCode.DELETE and ("/" not in path or "\0" in path):
        raise _no_path(path)
    if code is OpCode.SET_DATA:
        if path != "/":
            _new_path(path)
        return SetData(path, _data(path, body["data"], zookeeper), body["version"])
    return (Delete if code is OpCode.DELETE else Check)(path, body["version"])


def _data(path: str, data: bytes | None, zookeeper: ServedZooKeeper, *, sequential: bool = False) -> str:
    if zookeeper.is_full:
        raise RefusedOperation(Code.SYSTEM_ERROR, "znodes of clients hold as much as they may")
    return zookeeper.payloads.to_tree(path, data, sequential=sequential)


def translated_multi(data: bytes, zookeeper: ServedZooKeeper) -> Asked:
    """The request to the ensemble for a multi. An operation in it that is refused here fails the others, as one does
    that ZooKeeper refuses. Raises: MalformedRecord."""
    ops: list[Op] = []
    codes: list[OpCode] = []
    refused: RefusedOperation | None = None
    for code, body in read_multi(data):
        codes.append(code)
        if refused is None:
            try:
                ops.append(_op(code, body, zookeeper))
            except RefusedOperation as error:
                refused = error
                ops.append(_IMPOSSIBLE)
        else:
            ops.append(_IMPOSSIBLE)

    def answer(response: ZkResponse) -> tuple[int, bytes]:
        results = list[WireOp | int]()
        for code, op, result in zip(codes, ops, response.results, strict=True):
            if refused is not None and op is _IMPOSSIBLE and result.error is _IMPOSSIBLE_FAILS:
                results.append(refused.code)
            elif response.error is ZkCode.OK:
                results.append((code, _result(code, result)))
            else:
                results.append(result.error)
        return 0, write_multi_results(results)

    # A refusal outside a multi is logged; here it is only a result in the client's answer.
    return Asked(Multi(tuple(ops)), False, answer)


_IMPOSSIBLE = Check("/", -2)
"""An operation that always fails: no znode has that version."""
_IMPOSSIBLE_FAILS = ZkCode.BAD_VERSION


WITHOUT_EFFECT = Asked(_BARRIER, False, lambda _: (0, b""))
"""A request that is answered without an error, and that ZooKeeper does not see."""


def refused(error: RefusedOperation) -> Asked:
    """The answer to an operation that is refused."""
    return Asked(_BARRIER, False, lambda _: (error.code, b""))


# -- what is checked --------------------------------------------------------------------------------------------------


def _path(path: str | None) -> str:
    """A path to be read. If no znode can have it, none exists: ZooKeeper checks no more of it.

    Raises: RefusedOperation; MalformedRecord.
    """
    if path is None:
        raise MalformedRecord("a path is null")
    if len(path) > MOST_OF_A_PATH:
        raise RefusedOperation(
            ZkCode.BAD_ARGUMENTS, f"a path of {len(path)} characters, and at most {MOST_OF_A_PATH} are"
        )
    return path


def _no_path(path: str) -> RefusedOperation:
    return RefusedOperation(ZkCode.BAD_ARGUMENTS, f"{path[:100]!r} is no path")


def _new_path(path: str) -> None:
    """Check the path of a new znode. Raises: RefusedOperation where ZooKeeper writes no znode
    (PathUtils.validatePath)."""
    parts = path.split("/")
    if parts[0] or len(parts) < 2 or any(part in ("", ".", "..") for part in parts[1:]) or _NOT_IN_PATHS.search(path):
        raise _no_path(path)


def _check_acl(acl: list[Body]) -> None:
    """Check an ACL. Raises: RefusedOperation unless every client may do everything: no other ACL is kept."""
    if not acl or any(entry != OPEN_ACL[0] for entry in acl):
        raise RefusedOperation(Code.INVALID_ACL, "all znodes are open: the only ACL is world:anyone:cdrwa")
