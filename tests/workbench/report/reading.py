"""HTML as a reader meets it: elements with their attributes and the text inside them."""

from html.parser import HTMLParser

NEVER_CLOSED = {"meta", "link", "br", "hr"}


class Page(HTMLParser):
    """The elements of a page; complains of what is not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(text)
        self.close()
        assert self._open == []
        for element in self.elements:  # white space as a browser shows it
            element["text"] = " ".join(element["text"].split())

    def handle_starttag(self, name, attributes):
        element = {"name": name, "text": "", "inside": [e["name"] for e in self._open]}
        element["attributes"] = dict(attributes)
        self.elements.append(element)
        if name not in NEVER_CLOSED:
            self._open.append(element)

    def handle_endtag(self, name):
        assert self._open, f"</{name}> closes nothing"
        assert self._open[-1]["name"] == name, f"</{name}> closes <{self._open[-1]['name']}>"
        self._open.pop()

    def handle_data(self, data):
        for element in self._open:
            element["text"] += data

    def all(self, *names):
        """The elements of some names, in order."""
        return [element for element in self.elements if element["name"] in names]

    def with_id(self, name):
        """The element of that id, or None."""
        found = [e for e in self.elements if e["attributes"].get("id") == name]
        return found[0] if found else None
