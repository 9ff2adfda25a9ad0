"""The tree against a plain dictionary, and undo against a copy."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.zookeeper import ZkCode, ZkError
from emulator.zookeeper.server import Tree
from emulator.zookeeper.server.tree import Change

PATHS = ["/a", "/b", "/a/x", "/a/y", "/a/x/1", "/e", "/e/x"]
paths = st.sampled_from(PATHS)
versions = st.sampled_from([-1, 0, 1, 2])
operations = st.one_of(
    st.tuples(st.just("create"), paths, st.sampled_from([0, 0, 7]), st.booleans()),
    st.tuples(st.just("set"), paths, st.text(max_size=2), versions),
    st.tuples(st.just("delete"), paths, versions),
)


def apply(tree: Tree, operation: tuple[Any, ...], zxid: int) -> Change:
    match operation:
        case ("create", path, owner, sequential):
            return tree.create(path, "new", zxid, owner, sequential)
        case ("set", path, data, version):
            return tree.set(path, data, version, zxid)
        case (_, path, version):
            return tree.delete(path, version, zxid)
    raise AssertionError(operation)


class Model:
    """path -> [data, version, owner, creations of children, deletions of children]."""

    def __init__(self) -> None:
        self.nodes: dict[str, list[Any]] = {"/": ["", 0, 0, 0, 0]}

    def children(self, path: str) -> list[str]:
        prefix = path.rstrip("/") + "/"
        return [p for p in self.nodes if p != "/" and p.startswith(prefix) and "/" not in p[len(prefix) :]]

    def apply(self, operation: tuple[Any, ...]) -> ZkCode:
        path = operation[1]
        parent = path.rsplit("/", 1)[0] or "/"
        if operation[0] == "create":
            if parent not in self.nodes:
                return ZkCode.NO_NODE
            if self.nodes[parent][2]:
                return ZkCode.NO_CHILDREN_FOR_EPHEMERALS
            if operation[3]:
                path += str(self.nodes[parent][3]).zfill(10)
            if path in self.nodes:
                return ZkCode.NODE_EXISTS
            self.nodes[path] = ["new", 0, operation[2], 0, 0]
            self.nodes[parent][3] += 1
            return ZkCode.OK
        if path not in self.nodes:
            return ZkCode.NO_NODE
        if operation[-1] not in (-1, self.nodes[path][1]):
            return ZkCode.BAD_VERSION
        if operation[0] == "set":
            self.nodes[path][0] = operation[2]
            self.nodes[path][1] += 1
            return ZkCode.OK
        if self.children(path):
            return ZkCode.NOT_EMPTY
        del self.nodes[path]
        self.nodes[parent][4] += 1
        return ZkCode.OK


def snapshot(tree: Tree) -> dict[str, Any]:
    return {path: (tree.get(path), tree.stat(path), tree.children(path)) for path in sorted(tree.nodes)}


@settings(max_examples=200, deadline=None)
@given(st.lists(operations, max_size=30))
def test_the_tree_behaves_like_a_dictionary(script: list[tuple[Any, ...]]) -> None:
    tree, model = Tree(), Model()
    for zxid, operation in enumerate(script, 1):
        try:
            apply(tree, operation, zxid)
            code = ZkCode.OK
        except ZkError as error:
            code = error.code
        assert code == model.apply(operation)
    assert sorted(tree.nodes) == sorted(model.nodes)
    for path, (data, version, owner, created, deleted) in model.nodes.items():
        stat = tree.stat(path)
        assert stat is not None
        assert tree.get(path) == data
        assert (stat.version, stat.ephemeral_owner, stat.cversion) == (version, owner, created + deleted)
        assert stat.num_children == len(model.children(path)) == len(tree.children(path))
        assert sorted(f"{path.rstrip('/')}/{name}" for name in tree.children(path)) == sorted(model.children(path))
    assert sorted(tree.ephemerals(7)) == sorted(path for path, node in model.nodes.items() if node[2] == 7)


@settings(max_examples=200, deadline=None)
@given(st.lists(operations, max_size=12), st.lists(operations, max_size=12))
def test_undoing_in_reverse_order_restores_everything(
    before: list[tuple[Any, ...]], undone: list[tuple[Any, ...]]
) -> None:
    tree = Tree()
    changes: list[Change] = []
    for zxid, operation in enumerate(before, 1):
        _try(tree, operation, zxid)
    state, ephemerals = snapshot(tree), sorted(tree.ephemerals(7))
    for operation in undone:
        changes += _try(tree, operation, 99)
    for change in reversed(changes):
        change.undo()
    assert snapshot(tree) == state
    assert sorted(tree.ephemerals(7)) == ephemerals


def _try(tree: Tree, operation: tuple[Any, ...], zxid: int) -> list[Change]:
    try:
        return [apply(tree, operation, zxid)]
    except ZkError:
        return []
