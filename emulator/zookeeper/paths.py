"""Znode paths, as both the client and the server take them apart."""

from emulator.zookeeper.zk_errors import BadArguments


def split(path: str) -> tuple[str, str]:
    """The parent's path and the name: ``/a/b`` is ``/a`` and ``b``."""
    parent, _, name = path.rpartition("/")
    return parent or "/", name


def ancestors(path: str) -> list[str]:
    """The paths above ``path`` without the root, outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(2, len(parts))]


def check_path(path: str) -> None:
    """Raises: BadArguments if the path is not absolute, ends with a slash or has an empty part."""
    if path[:1] != "/" or path[-1] == "/" or "//" in path:
        raise BadArguments(path)
