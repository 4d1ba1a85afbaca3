"""`compare` on real tables, beside the same recipe built from scikit-learn, and FLAML's answer."""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.scenario import Contender, Data, Quality, Scenario

TABLES = Path(__file__).parents[3] / "shared" / "data"
WHICH = {
    "adult": ("adult/adult_train.csv.gz", "income"),
    "covertype": ("covertype_part/covertype_part.parquet", "Cover_Type"),
    "letter": ("letter/letter.csv.gz", "letter"),
    "california housing": ("california_housing/california_housing.parquet", "MedHouseVal"),
}
OF_A_MINUTE = {
    **WHICH,
    "diamonds": ("diamonds/diamonds.csv.gz", "price"),
    "flights": ("nycflights13/flights.parquet", "arr_delay"),
    "wine quality": ("wine_quality/wine_quality.csv.gz", "quality"),
    "spambase": ("spambase/spambase.csv.gz", "class"),
}
TASKS = {"quality": "classification"}  # by target, where the table leaves a choice
# Families that scikit-learn is done with in a minute, of a large table.
QUICK = ["Gaussian naive Bayes", "linear discriminant analysis"]
OF_WORDS = ["mixed naive Bayes", "Gaussian naive Bayes", "averaged perceptron"]


@dataclass(frozen=True)
class TableData(Data):
    """A table: X is its data frame, y the target, which X holds as well."""

    target: str = ""

    @property
    def nbytes(self) -> int:
        return int(self.X.estimated_size())


def scenarios(scale: float) -> list[Scenario]:
    score = Quality("test score", lambda found, data: found, slack=0.005)
    return [
        Scenario(
            f"compare, {name}",
            f"On {name}, by the same protocol and grids, the families that scikit-learn has and "
            "searches in minutes: search by five folds, retrain, one test score. Ours also makes "
            "the learning curve, the certificate and the hints.",
            lambda path=path, target=target: table(path, target, scale),
            Contender("rosenblatt", "compare", "rosenblatt", ours_with_twins),
            (
                Contender(
                    "scikit-learn", "GridSearchCV of pipelines", "scikit-learn", theirs_too, 5
                ),
            ),
            score,
            lambda data: {"read": data.nbytes},
            rounds=1,  # the peer takes minutes
            memory_wanted=None,
        )
        for name, (path, target) in WHICH.items()
        if (TABLES / path).exists()
    ] + [
        *minutes(scale), memory_of_a_large_table(scale), memory_of_a_table_of_words(scale),
    ]  # fmt: skip


def minutes(scale: float) -> list[Scenario]:
    """What a minute of `compare` finds, and a minute of FLAML: the score counts, not the time."""
    return [
        Scenario(
            f"a minute of compare, {name}",
            f"compare with budget=60 on {name}, beside 60 s of FLAML's search on the same training "
            "and development rows; both on one thread, the score of the same test rows.",
            lambda path=path, target=target: table(path, target, scale),
            Contender("rosenblatt", "compare, budget=60", "rosenblatt", ours_in_a_minute),
            (Contender("FLAML", "AutoML, time_budget=60", "flaml", flaml_in_a_minute, 1),),
            Quality("test score", lambda found, data: found, slack=0.005),
            lambda data: {"read": data.nbytes},
            rounds=1,
            memory_wanted=None,
            score_only=True,
        )
        for name, (path, target) in OF_A_MINUTE.items()
        if (TABLES / path).exists()
    ]


def memory_of_a_large_table(scale: float) -> Scenario:
    """Three times the table is wanted, of which the table itself is one."""
    return memory_scenario(
        "compare memory, 264 MB",
        "1,000,000 rows of 32 numbers and a target of two classes. Memory: what compare with all "
        f"families adds to the table at its peak. Time: {', '.join(QUICK)} alone.",
        lambda: large_table(scale),
        Contender("rosenblatt", "compare", "rosenblatt", ours_of_few, full=ours),
        theirs_of_few,
    )


def memory_of_a_table_of_words(scale: float) -> Scenario:
    """The same wanted of words, which models see as many columns of zeros and ones."""
    return memory_scenario(
        "compare memory, 270 MB of words and numbers",
        "1,500,000 rows of 12 numbers and 6 columns of words (5 to 100 different ones). Memory: "
        f"what compare with {', '.join(OF_WORDS)} adds to the table at its peak. Time: "
        f"{QUICK[0]} alone.",
        lambda: table_of_words(scale),
        Contender("rosenblatt", "compare", "rosenblatt", ours_of_one, full=ours_of_words),
        theirs_of_one,
    )


def memory_scenario(name, words, make, contender, peer) -> Scenario:
    """What a comparison of a large table adds to it, beside the same recipe from scikit-learn."""
    return Scenario(
        name,
        words,
        make,
        contender,
        (Contender("scikit-learn", "GridSearchCV of pipelines", "scikit-learn", peer, 5),),
        Quality("test score", lambda found, data: found, slack=0.005),
        lambda data: {"read": data.nbytes},
        rounds=1,
        memory_wanted=2.0,
    )


def table_of_words(scale: float) -> TableData:
    """Numbers and words, all of which say a little of the target."""
    import numpy as np
    import polars as pl

    rng, n = np.random.default_rng(0), int(1_500_000 * scale)
    numbers = {f"c{j}": rng.normal(size=n) for j in range(12)}
    score = 0.2 * sum(numbers.values())
    words = {}
    for j, different in enumerate((5, 12, 40, 100, 20, 8)):
        codes = rng.integers(0, different, n)
        score += 0.5 * (codes % 2)
        words[f"w{j}"] = pl.Series([f"word-{j}-{i:06d}" for i in range(different)]).gather(codes)
    y = (score + rng.normal(size=n) > 1.5).astype(int)
    frame = pl.DataFrame({**numbers, **words, "y": y})
    return TableData(frame, y, None, None, Path(tempfile.mkdtemp()), "y")


def large_table(scale: float) -> TableData:
    """Numbers, some of which decide the target but for noise."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    X = rng.normal(size=(int(1_000_000 * scale), 32))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
    frame = pl.DataFrame(X, schema=[f"c{j}" for j in range(32)])
    frame = frame.with_columns(pl.Series("y", y))
    return TableData(frame, y, None, None, Path(tempfile.mkdtemp()), "y")


def table(path: str, target: str, scale: float) -> TableData:
    """A real table of the shared data."""
    from rosenblatt.data import read_table

    frame = read_table(str(TABLES / path)).frame
    frame = frame.head(int(len(frame) * scale))
    folder = Path(tempfile.mkdtemp())
    return TableData(frame, frame[target].to_numpy(), None, None, folder, target)


def with_twins(data: TableData) -> list[str]:
    """The families for a table that scikit-learn has too, but for those that take it hours."""
    from benchmarks.workbench_peer import TAKE_HOURS, TWINS
    from rosenblatt.data import read_table
    from rosenblatt.workbench.families import families_for
    from rosenblatt.workbench.problem import problem_of

    found = families_for(problem_of(read_table(data.X), data.target))[0]
    return [f.name for f in found if f.name in TWINS and f.name not in TAKE_HOURS]


def ours_with_twins(data: TableData, seed: int) -> float:
    return ours(data, seed, with_twins(data))


def theirs_too(data: TableData, seed: int) -> float:
    return theirs(data, seed, with_twins(data))


def ours_of_few(data: TableData, seed: int) -> float:
    return ours(data, seed, QUICK)


def ours_of_words(data: TableData, seed: int) -> float:
    return ours(data, seed, OF_WORDS)


def ours_of_one(data: TableData, seed: int) -> float:
    return ours(data, seed, QUICK[:1])


def theirs_of_one(data: TableData, seed: int) -> float:
    return theirs(data, seed, QUICK[:1])


def theirs_of_few(data: TableData, seed: int) -> float:
    return theirs(data, seed, QUICK)


def ours(data: TableData, seed: int, names: list[str] | None = None) -> float:
    import rosenblatt

    ledger = data.folder / "openings.jsonl"
    found = rosenblatt.compare(data.X, target=data.target, families=names, ledger=ledger)
    return found.findings.opening.score


def ours_in_a_minute(data: TableData, seed: int) -> float:
    import rosenblatt

    found = rosenblatt.compare(
        data.X, target=data.target, task=TASKS.get(data.target), budget=60,
        ledger=data.folder / "openings.jsonl",
    )  # fmt: skip
    return found.findings.opening.score


def flaml_in_a_minute(data: TableData, seed: int) -> float:
    return flaml_score(data, 60.0)


def theirs(data: TableData, seed: int, names: list[str] | None = None) -> float:
    from benchmarks.workbench_peer import scikit_learn_build
    from rosenblatt.data import read_table
    from rosenblatt.workbench.families import families_for
    from rosenblatt.workbench.problem import problem_of

    problem = problem_of(read_table(data.X), data.target)
    families = [f for f in families_for(problem)[0] if names is None or f.name in names]
    return scikit_learn_build(problem, families)


def flaml_score(data: TableData, seconds: float) -> float:
    path = data.folder / "table.parquet"
    data.X.write_parquet(path)
    command = [sys.executable, "-m", "benchmarks.flaml_peer", str(path), data.target, str(seconds)]
    command.append(TASKS.get(data.target, ""))
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(said.splitlines()[-1])
