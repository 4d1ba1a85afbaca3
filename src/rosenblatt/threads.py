"""How many threads loops may use; the pool itself is in `rosenblatt.runtime.threads`."""

from rosenblatt.runtime.threads import count, limit

__all__ = ["count", "limit"]
