"""HTML from Python: text is escaped where it enters, so that no name in a scenario file can become an element."""

from __future__ import annotations

from html import escape

EMPTY = frozenset({"br", "col", "hr", "input", "meta"})
"""Elements without an end tag."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Node = str | Html | None
"""A child of an element: plain text, which is escaped; HTML; or None, which is left out."""


def element(name: str, /, *children: Node, **attributes: str | bool | int | None) -> Html:
    """``<name attributes>children</name>``.

    Attributes are keywords: ``class_`` is class, ``data_id`` is data-id. True stands for an attribute without a value;
    False and None leave it out.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    end = "" if name in EMPTY else f"{joined(*children)}</{name}>"
    return Html(f"<{name}{written}>{end}")


def joined(*children: Node) -> Html:
    """The children one after the other."""
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children if child is not None))


def _attribute(key: str, value: str | bool | int | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
