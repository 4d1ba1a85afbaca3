"""`compare` on texts, beside the same choice of a penalty built from scikit-learn's parts."""

import tarfile
import tempfile
from pathlib import Path

from benchmarks.scenario import Contender, Quality, Scenario
from benchmarks.scenarios.workbench import TABLES, TableData, ours

PENALTIES = (0.1, 1.0, 10.0)  # fewer than ours are


def scenarios(scale: float) -> list[Scenario]:
    return [
        Scenario(
            f"compare, {name}",
            f"All families that read texts on {name}, and the folds of the same training rows for "
            "the peer's two: tf-idf made within each fold, the penalty chosen, the better model "
            "fitted again, one test score. Ours also makes the learning curve and the certificate.",
            lambda read=read: table(read(), scale),
            Contender("rosenblatt", "compare, all families", "rosenblatt", ours),
            (
                Contender(
                    "scikit-learn",
                    "GridSearchCV of TfidfVectorizer with LogisticRegression and LinearSVC, three "
                    "penalties each",
                    "scikit-learn",
                    theirs,
                    1,
                ),
            ),
            Quality("test score", lambda found, data: found),
            lambda data: {"read": data.nbytes},
            rounds=1 if long else 3,
            memory_wanted=None,
            score_only=long,  # once: it takes the peer ten minutes
        )
        for name, read, long in (
            ("sms_spam", sms_spam, False),
            ("movie_reviews", movie_reviews, False),
            ("newsgroups20", newsgroups, True),
        )
        if (TABLES / name).exists()
    ]


def table(frame, scale: float) -> TableData:
    """A column of texts and the label of each."""
    frame = frame.sample(fraction=scale, seed=0) if scale < 1 else frame
    folder = Path(tempfile.mkdtemp())
    return TableData(frame, frame["label"].to_numpy(), None, None, folder, "label")


def sms_spam():
    import polars as pl

    path = TABLES / "sms_spam" / "SMSSpamCollection.tsv.gz"
    names = ["label", "text"]
    return pl.read_csv(path, separator="\t", has_header=False, quote_char=None, new_columns=names)


def movie_reviews():
    import polars as pl

    found = []
    with tarfile.open(TABLES / "movie_reviews" / "review_polarity.tar.gz") as archive:
        for member in archive:
            if member.name.endswith(".txt") and "/cv" in member.name:
                text = archive.extractfile(member).read().decode("latin-1")
                found.append((member.name.split("/")[-2], text))
    return pl.DataFrame(found, schema=["label", "text"], orient="row")


def newsgroups():
    import polars as pl

    posts = pl.read_parquet(TABLES / "newsgroups20" / "20news_bydate.parquet")
    return posts.select(pl.col("group").alias("label"), "text")


def theirs(data: TableData, seed: int) -> float:
    """The test score of their better model, searched for and fitted again by the same protocol."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline
    from sklearn.svm import LinearSVC

    from rosenblatt.data import read_table
    from rosenblatt.workbench.problem import problem_of

    problem = problem_of(read_table(data.X), data.target)
    texts, y, train = np.array(data.X["text"].to_list(), object), problem.y, problem.train
    searches = [
        GridSearchCV(
            Pipeline([("words", TfidfVectorizer()), ("model", model)]),
            {"model__C": PENALTIES},
            cv=problem.folds(),
            refit=False,
        ).fit(texts[train], y[train])
        for model in (LogisticRegression(max_iter=1000), LinearSVC())
    ]
    best = max(searches, key=lambda search: search.best_score_)
    kept = np.concatenate([train, problem.dev])
    chosen = best.estimator.set_params(**best.best_params_).fit(texts[kept], y[kept])
    return chosen.score(texts[problem.test], y[problem.test])
