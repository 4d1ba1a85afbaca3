"""Side-by-side timings: ours against the best peers, on one thread, in one process.

``python -m benchmarks`` from the root of the repository runs every scenario and writes
``RESULTS.md`` and ``results.jsonl``; ``--only name`` runs some and merges their rows.
"""
