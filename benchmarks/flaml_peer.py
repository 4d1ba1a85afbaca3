"""``python -m benchmarks.flaml_peer TABLE TARGET SECONDS [TASK]`` prints FLAML's test score."""

import sys
import warnings

import numpy as np

from rosenblatt.data import read_table
from rosenblatt.workbench.problem import problem_of


def main(path: str, target: str, seconds: str, task: str = "") -> None:
    warnings.simplefilter("ignore")
    from flaml import AutoML

    problem = problem_of(read_table(path), target, task=task or None)
    kept = np.concatenate([problem.train, problem.dev])
    frame = problem.X.to_pandas()
    # LightGBM takes no brackets in names.
    frame.columns = [f"c{j}" for j in range(frame.shape[1])]
    search = AutoML()
    search.fit(
        frame.iloc[kept], problem.y[kept], task=problem.task, time_budget=float(seconds),
        metric="accuracy" if problem.task == "classification" else "r2", verbose=0, n_jobs=1,
    )  # fmt: skip
    print(search.score(frame.iloc[problem.test], problem.y[problem.test]))


if __name__ == "__main__":
    main(*sys.argv[1:])
