"""Texts by parts: vocabularies united, weights of terms, and pipelines behind them, to the bit."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

from rosenblatt import (
    SVC,
    CountVectorizer,
    HashingVectorizer,
    LogisticRegression,
    MultinomialNB,
    Standardizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from rosenblatt.data import Source, TableError
from rosenblatt.distributed import fit, fit_stream

RNG = np.random.default_rng(0)
WORDS = [f"w{j}" for j in range(400)] + ["Äpfel", "the", "straße"]
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(1, 12))) for _ in range(500)]
TEXTS[137] = "! ?"  # no word at all
LABELS = np.where([("w1" in text) for text in TEXTS], "yes", "no")
TABLE = pl.DataFrame({"text": TEXTS, "label": LABELS})


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Two files, seven parts; one part has texts without a word."""
    folder = tmp_path_factory.mktemp("texts")
    TABLE[:300].write_parquet(folder / "0.parquet")
    TABLE[300:].write_parquet(folder / "1.parquet")
    return Source(folder, target="label", rows_per_part=80)


VECTORIZERS = [
    CountVectorizer(),
    CountVectorizer(min_df=3, max_df=0.5, stop_words="english"),
    CountVectorizer(max_features=50, ngram_range=(1, 2)),
    CountVectorizer(analyzer="char_wb", ngram_range=(2, 3), binary=True),
    TfidfVectorizer(),
    TfidfVectorizer(sublinear_tf=True, smooth_idf=False, dtype=np.float32, min_df=2),
    HashingVectorizer(n_features=64),
]


@pytest.mark.parametrize("model", VECTORIZERS, ids=repr)
def test_parts_give_the_vocabulary_and_weights_of_one_machine(model, source):
    parts, whole = fit_stream(model, source), type(model)(**model.get_params()).fit(TEXTS)
    assert getattr(parts, "vocabulary_", None) == getattr(whole, "vocabulary_", None)
    ours, theirs = parts.transform(TEXTS), whole.transform(TEXTS)
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    if hasattr(whole, "idf_"):
        np.testing.assert_array_equal(parts.idf_, whole.idf_)
    if hasattr(whole, "statistics_"):
        assert parts.statistics_ == whole.statistics_


def test_workers_and_checkpoints_change_nothing(source, tmp_path):
    here = fit(CountVectorizer(), source, checkpoint=tmp_path)
    again = fit(CountVectorizer(), source, checkpoint=tmp_path)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = fit(CountVectorizer(), source, pool)
    assert here.vocabulary_ == again.vocabulary_ == there.vocabulary_


@pytest.mark.parametrize("kind", [np.int64, np.float32])
@pytest.mark.parametrize("settings", [{}, {"smooth_idf": False}, {"use_idf": False}])
def test_weights_of_counts_are_those_of_one_machine(kind, settings, tmp_path):
    counts = RNG.poisson(0.7, (200, 4)).astype(kind)
    frame = pl.DataFrame(dict(zip("abcd", counts.T, strict=True)))
    frame.write_parquet(tmp_path / "a.parquet")
    parts = fit(TfidfTransformer(**settings), Source(tmp_path, rows_per_part=60))
    whole = TfidfTransformer(**settings).fit(counts)
    assert parts.n_features_in_ == 4
    if settings.get("use_idf", True):
        np.testing.assert_array_equal(parts.idf_, whole.idf_)
        assert parts.idf_.dtype == whole.idf_.dtype
    if kind is np.int64:  # scikit-learn reads frames of 32 bits in 64
        assert (parts.transform(frame) != whole.transform(counts)).nnz == 0


def test_a_pipeline_counts_words_and_learns_from_them(source):
    for first in (CountVectorizer(), HashingVectorizer(alternate_sign=False, norm=None)):
        model = make_pipeline(first, MultinomialNB())
        parts, whole = fit(model, source), model.fit(TEXTS, LABELS)
        np.testing.assert_array_equal(parts[-1].feature_count_, whole[-1].feature_count_)
        np.testing.assert_array_equal(parts.predict_proba(TEXTS), whole.predict_proba(TEXTS))
    three = make_pipeline(CountVectorizer(), TfidfTransformer(), "passthrough", MultinomialNB())
    parts, whole = fit(three, source), three.fit(TEXTS, LABELS)
    np.testing.assert_array_equal(parts[1].idf_, whole[1].idf_)
    np.testing.assert_allclose(parts.predict_proba(TEXTS), whole.predict_proba(TEXTS), rtol=1e-12)


def test_a_pipeline_standardises_and_reaches_the_optimum(tmp_path):
    X = RNG.standard_normal((400, 3)) * [1, 10, 100]
    y = (X @ [1, 0.1, 0.01] + RNG.standard_normal(400) > 0).astype(int)
    frame = pl.DataFrame(dict(zip("abc", X.T, strict=True)))
    frame.with_columns(y=y).write_parquet(tmp_path / "a.parquet")
    model = make_pipeline(Standardizer(), LogisticRegression())
    parts = fit(model, Source(tmp_path, target="y", rows_per_part=90), checkpoint=tmp_path / "kept")
    whole = model.fit(X, y)
    np.testing.assert_allclose(parts[-1].coef_, whole[-1].coef_, atol=1e-3)
    assert (parts.predict(frame) == whole.predict(X)).mean() > 0.99


def test_a_generator_of_texts_serves_a_hashed_pipeline_in_one_pass():
    def parts():
        for start in range(0, 500, 100):
            yield TABLE[start : start + 100]

    hashed = make_pipeline(HashingVectorizer(alternate_sign=False, norm=None), MultinomialNB())
    found = fit(hashed, Source(parts(), target="label"))
    assert found[-1].class_count_.sum() == 500
    with pytest.raises(TableError, match="A pipeline whose steps learn one after the other reads"):
        fit(make_pipeline(CountVectorizer(), MultinomialNB()), Source(parts(), target="label"))


def test_what_cannot_be_counted_is_refused(source, tmp_path):
    TABLE.with_columns(more=1).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(TableError, match=r"Documents are one column of texts.*has 2: text, more"):
        fit(CountVectorizer(), Source(tmp_path, target="label"))
    fit(CountVectorizer(), Source(tmp_path, target="label", columns=["text"]))
    with pytest.raises(ValueError, match="with a given vocabulary learns none"):
        fit(CountVectorizer(vocabulary=["a"]), source)
    with pytest.raises(TypeError, match="SVC is not fitted by parts"):
        fit(make_pipeline(CountVectorizer(), SVC()), source)
