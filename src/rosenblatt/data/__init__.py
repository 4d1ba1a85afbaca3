"""Read tables of many formats, whole or in batches, and infer the kinds of their columns."""

from .columns import Column, columns_of
from .errors import TableError
from .reading import BUNDLED as BUNDLED
from .reading import read_batches, read_table
from .source import Source
from .table import Table

__all__ = ["Column", "Source", "Table", "TableError", "columns_of", "read_batches", "read_table"]
