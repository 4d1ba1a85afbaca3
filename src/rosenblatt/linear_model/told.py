"""The warnings of the many fits of a search, told once each."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from rosenblatt.base import callers_level


class Told:
    """Warnings heard while a search fits, one list for each kind."""

    def __init__(self) -> None:
        self.n_fits = 0
        self.heard: dict[type[Warning], list[Warning]] = {}

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Keep what one fit says to itself."""
        self.n_fits += 1
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always")
            yield
        # One fit may say two things of a kind; it is counted once.
        said = [record.message for record in records if isinstance(record.message, Warning)]
        for kind, message in {type(message): message for message in said[::-1]}.items():
            self.heard.setdefault(kind, []).append(message)

    def tell(self) -> None:
        """Say each kind once: how often it was heard, and the last in full."""
        for messages in self.heard.values():
            last = messages[-1]
            if self.n_fits > 1:
                last.args = (f"In {len(messages)} of {self.n_fits} fits, here the last: {last}",)
            warnings.warn(last, stacklevel=callers_level())
