"""Reports of a comparison: one page that stands alone."""

from .page import page, save

__all__ = ["page", "save"]
