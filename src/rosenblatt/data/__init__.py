"""Tables from files of many kinds, read whole or in batches, and what their columns hold."""

from .columns import Column, columns_of
from .errors import TableError
from .reading import BUNDLED as BUNDLED
from .reading import read_batches, read_table
from .source import Source
from .table import Table

__all__ = ["Column", "Source", "Table", "TableError", "columns_of", "read_batches", "read_table"]
