"""The warnings of the many fits of a search, each kind told once."""

import re
import warnings
from typing import Any

from rosenblatt.base import callers_level

# What differs between two warnings of a kind: numbers, names in quotes, and lists of them.
_PARTICULAR = re.compile(r"'[^']*'|\"[^\"]*\"|[-+]?\d[\d.]*(?:e[-+]?\d+)?")
_LISTED = re.compile(r"#(?:(?:, | and |,? or )#)+")


class EachKindOnce:
    """Hold warnings back, and at the end tell of each kind how often it came, with one in full.

    What is to be ignored, or raised as an error, still is; what would be shown once is counted.
    """

    def __enter__(self) -> None:
        self._catching = warnings.catch_warnings(record=True)
        self._heard: Any = self._catching.__enter__()
        warnings.filters[:] = [  # type: ignore[index]
            (action if action in ("error", "ignore") else "always", *rest)
            for action, *rest in warnings.filters
        ]
        warnings.simplefilter("always", append=True)

    def __exit__(self, *error: Any) -> None:
        self._catching.__exit__(*error)
        kinds: dict[tuple[type[Warning], str], list[Warning]] = {}
        for message in [record.message for record in self._heard]:
            kinds.setdefault((type(message), kind_of(str(message))), []).append(message)
        for messages in kinds.values():
            last = messages[-1]
            if len(messages) > 1:
                # Behind what it says, for filters look at how a message begins.
                last.args = (f"{last} ({len(messages)} times in this search; this is the last.)",)
            warnings.warn(last, stacklevel=callers_level())


def kind_of(text: str) -> str:
    """A warning without its particulars: numbers, names in quotes and lists of these.

    >>> kind_of("Columns 1, 2 and 'age' are off by 3.5e-07.")
    'Columns # are off by #.'
    """
    return _LISTED.sub("#", _PARTICULAR.sub("#", text))
