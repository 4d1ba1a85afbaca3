"""HTML and SVG made of tags: whatever is not markup already is escaped, so that no name can be."""

import html

EMPTY = frozenset({"br", "hr", "meta", "link"})  # tags of HTML that are never closed


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """One element; ``class_`` is ``class``, and other underscores are hyphens.

    Examples
    --------
    >>> print(tag("p", "a < b", tag("b", "!"), class_="note", hidden=None))
    <p class="note">a &lt; b<b>!</b></p>
    """
    opening = name + "".join(map(_attribute, attributes.items()))
    if name in EMPTY:
        return Markup(f"<{opening}>")
    return Markup(f"<{opening}>{joined(*children)}</{name}>")


def joined(*children: object) -> Markup:
    """Elements and texts one after the other; None is nothing."""
    return Markup("".join(map(_escaped, children)))


def _escaped(child: object) -> str:
    if child is None:
        return ""
    return child if isinstance(child, Markup) else _text(child)


def _text(value: object) -> str:
    """Text as HTML, with a sign in the place of characters that are for machines."""
    return html.escape("".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in str(value)))


def _attribute(pair: tuple[str, object]) -> str:
    name, value = pair
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_text(value)}"'
