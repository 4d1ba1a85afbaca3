"""The workbench: from a table to an answer that can be trusted."""
