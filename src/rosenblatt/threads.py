"""How many threads loops may use; the pool itself is in `rosenblatt.runtime.threads`."""

from rosenblatt.runtime.threads import count, limit, over_chunks

__all__ = ["count", "limit", "over_chunks"]
