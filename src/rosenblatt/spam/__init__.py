"""A spam filter: the courses' running example as software to put behind a mailbox."""

from .mailbox import Mail, mails
from .spam_filter import SpamFilter, marked
from .store import StoreError

__all__ = ["Mail", "SpamFilter", "StoreError", "mails", "marked"]
