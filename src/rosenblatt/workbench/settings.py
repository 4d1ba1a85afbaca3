"""The options of a comparison."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, eq=False)
class CompareSettings:
    """The options of `compare`, which describes them: its keywords and the printed call."""

    target: str | None = None
    format: str | None = None
    header: bool = True
    task: str | None = None
    metric: str | None = None
    time: str | None = None
    groups: Any = None
    kinds: dict[str, str] | None = None
    families: Any = None
    peers: bool = False
    budget: Any = None
    random_state: int = 0
    ledger: Any = None
    sheet: str | None = None
    clean_labels: bool = False
    positive: Any = None
