"""Parts of a job that threads take in turn."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rosenblatt.ensemble import fork_join_loops
from rosenblatt.loops import compiled


@compiled
def take_parts(board, ticket, taken):
    """Count in taken (parts,) the parts of a job that this thread does."""
    part = fork_join_loops.claim(board, ticket)
    while part >= 0:
        taken[part] += 1
        fork_join_loops.report(board)
        part = fork_join_loops.claim(board, ticket)


@pytest.mark.parametrize("parts", [1, 7, 5000])
def test_every_part_is_done_once_whoever_takes_it(parts):
    board, taken = np.zeros(fork_join_loops.BOARD, np.int64), np.zeros((3, parts), np.int64)
    with ThreadPoolExecutor(3) as pool:
        for _ in range(3):
            board[fork_join_loops.PARTS] = parts
            fork_join_loops.post(board)
            done = [pool.submit(take_parts, board, 0, taken[i]) for i in range(3)]
            fork_join_loops.wait(board)
            for future in done:
                future.result()
    assert (taken.sum(axis=0) == 3).all()


def test_a_thread_that_comes_late_takes_nothing_of_the_next_leader():
    board, taken = np.zeros(fork_join_loops.BOARD, np.int64), np.zeros(4, np.int64)
    board[fork_join_loops.TICKET] = 1
    board[fork_join_loops.PARTS] = 4
    fork_join_loops.post(board)
    take_parts(board, 0, taken)
    assert fork_join_loops.next_part(board, 0) == -1
    assert not taken.any()
    take_parts(board, 1, taken)
    assert (taken == 1).all()
