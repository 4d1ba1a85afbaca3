"""Reports as HTML pages: Python prepares numbers and figures, templates hold the sentences."""

from .comparison import page as page
from .comparison import save as save
