"""Tables from files of many kinds, read whole or in batches, and what their columns hold."""

from .batches import read_batches
from .columns import Column, columns_of
from .errors import TableError
from .source import Source
from .table import BUNDLED as BUNDLED
from .table import Table, read_table

__all__ = ["Column", "Source", "Table", "TableError", "columns_of", "read_batches", "read_table"]
