"""C4: vectorizers give scikit-learn's tokens, vocabulary and matrix."""

import gzip
import io
import pickle
import tarfile
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import text as peer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from rosenblatt import (
    CountVectorizer,
    LogisticRegression,
    MultinomialNB,
    explain,
    term_table_loops,
)
from rosenblatt.feature_extraction import documents, text, text_loops
from rosenblatt.feature_extraction.analysis import N_CHARACTERS, kinds_of, tokens
from rosenblatt.term_table import TermTable, joined

DOCUMENTS = [
    "To be, or not to be: that is the question.",
    "Straße ÉCOLE İstanbul ΣΑΣ Σ x _a 1_2 été e\u0301te\u0301",
    "",
    "a b c",
    "日本語 テキスト\u3000です。 ",
    "the the  the\n\n\tthe \x1c\x1d q\x00q supercalifragilistic supercalifragilistie",
    "lone \ud800 surrogate 𝒳𝒴 😀😀",
]
SETTINGS = [
    {},
    {"ngram_range": (1, 3)},
    {"ngram_range": (2, 2), "stop_words": ["be", "the", "to"]},
    {"stop_words": "english"},
    {"analyzer": "char", "ngram_range": (1, 4)},
    {"analyzer": "char_wb", "ngram_range": (2, 5)},
    {"lowercase": False},
    {"binary": True},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii", "analyzer": "char_wb", "ngram_range": (3, 3)},
    {"preprocessor": str.swapcase},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"tokenizer": str.split, "token_pattern": None},
    {"analyzer": str.split},
    {"dtype": np.float32},
]
LIMITS = [{"min_df": 2}, {"max_df": 0.4}, {"max_features": 5}, {"vocabulary": ["the", "be"]}]
VECTORIZERS = ["CountVectorizer", "TfidfVectorizer", "HashingVectorizer"]

each_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Few documents are read by Python; here the loops are to read them."""
    monkeypatch.setattr(documents, "FEW", 0)


def both(name, setting):
    return getattr(peer, name)(**setting), getattr(text, name)(**setting)


def assert_same_matrix(theirs, ours):
    assert (theirs.shape, theirs.dtype, theirs.nnz) == (ours.shape, ours.dtype, ours.nnz)
    difference = abs(theirs - ours)
    # Counts are equal; weights are summed in another order.
    assert difference.max() <= (1e-6 if ours.dtype == np.float32 else 1e-14)


def assert_same(name, setting, documents):
    theirs, ours = both(name, setting)
    try:
        expected = theirs.fit_transform(documents)
    except ValueError:
        with pytest.raises(ValueError, match=r"empty vocabulary|no terms remain|max_df"):
            ours.fit_transform(documents)
        return
    assert_same_matrix(expected, ours.fit_transform(documents))
    assert_same_matrix(theirs.transform(documents), ours.transform(documents))
    if name != "HashingVectorizer":
        assert ours.vocabulary_ == theirs.vocabulary_


@each_setting
@pytest.mark.parametrize("name", VECTORIZERS)
def test_the_matrix_is_scikit_learns(name, setting):
    # scikit-learn does not hash half a surrogate pair.
    assert_same(name, setting, DOCUMENTS[:-1] if name == "HashingVectorizer" else DOCUMENTS)


@pytest.mark.parametrize("setting", LIMITS, ids=str)
@pytest.mark.parametrize("name", VECTORIZERS[:2])
def test_limits_keep_the_same_terms(name, setting):
    assert_same(name, setting, DOCUMENTS)


words = st.text(st.characters(exclude_categories=()), max_size=30)


@given(st.lists(words | st.text("aAbB \n\tß_0é٣ǅİΣ.'\u0345", max_size=40), min_size=1, max_size=5))
def test_any_unicode_gives_the_same_words(texts):
    assert_same("CountVectorizer", {}, texts)
    assert_same("CountVectorizer", {"ngram_range": (1, 2), "min_df": 1}, texts)
    assert_same("HashingVectorizer", {"n_features": 64}, texts)


@given(st.lists(words | st.text("aA \n\tß_é\u2003", max_size=40), min_size=1, max_size=4))
def test_any_unicode_gives_the_same_characters(texts):
    assert_same("CountVectorizer", {"analyzer": "char", "ngram_range": (1, 3)}, texts)
    assert_same("CountVectorizer", {"analyzer": "char_wb", "ngram_range": (2, 4)}, texts)


@given(st.lists(st.text("aB_0 .", max_size=200), min_size=1, max_size=4))
def test_blocks_of_ascii_give_the_same_words(texts):
    for setting in ({}, {"lowercase": False, "ngram_range": (1, 2)}, {"stop_words": ["aa"]}):
        ours, theirs = both("HashingVectorizer", setting)
        assert (ours.transform(texts) != theirs.transform(texts)).nnz == 0
        ours, theirs = both(
            "CountVectorizer", {"vocabulary": ["aa", "bb", "a0", "aa aa"]} | setting
        )
        assert (ours.transform(texts) != theirs.transform(texts)).nnz == 0


@given(st.lists(st.text("abc", min_size=2, max_size=40), min_size=1))
def test_any_word_has_scikit_learns_hash(found):
    assert_same("HashingVectorizer", {"n_features": 2**20, "norm": None}, [" ".join(found)])


def test_many_terms_and_long_ones_make_the_table_grow():
    texts = [" ".join(f"w{i * j}{'x' * (j % 30)}" for j in range(300)) for i in range(80)]
    assert_same("CountVectorizer", {}, texts)


def test_batches_end_anywhere(monkeypatch):
    monkeypatch.setattr(documents, "BYTES_AT_A_TIME", 40)
    for name in VECTORIZERS:
        assert_same(name, {}, DOCUMENTS)
    monkeypatch.setattr(documents, "ITEMS_AT_A_TIME", 2)
    for name in VECTORIZERS:
        assert_same(name, {}, DOCUMENTS)
        assert_same(name, {}, [DOCUMENTS[0].encode(), *DOCUMENTS[1:]])


def test_documents_are_numbered_across_the_batches_of_a_list(monkeypatch):
    monkeypatch.setattr(documents, "ITEMS_AT_A_TIME", 3)
    with pytest.raises(ValueError, match=r"document 7 .*is missing"):
        text.CountVectorizer().fit([*["to be"] * 7, None])


def test_frequent_terms_are_in_the_first_slot_that_is_looked_at():
    """Of terms placed by the alphabet, one token in four took a second look."""
    words = [f"w{j}" for j in range(2_000)]
    counts = np.arange(2_000)
    table = TermTable.of_bytes(*joined(words), counts)
    used = np.flatnonzero(table.slots[:, 1])
    numbers = (table.slots[used, 1] & term_table_loops.NUMBERS).astype(int) - 1
    homes = [term_table_loops.first_slot(table.slots, bits) for bits in table.slots[used, 0]]
    at_home = used == homes
    assert at_home[numbers >= 1_000].mean() > 0.85 > at_home[numbers < 1_000].mean()


FORMS = {
    "iterator": iter,
    "bytes": lambda texts: [one.encode() for one in texts],
    "array": lambda texts: np.array(texts, object),
    "strings": np.array,
    "pandas": pd.Series,
    "pandas of arrow": lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
    "polars": pl.Series,
    "arrow": pa.array,
    "large arrow": lambda texts: pa.array(texts, pa.large_string()),
    "slice of arrow": lambda texts: pa.array(["before", *texts, "after"]).slice(1, len(texts)),
    "chunks": lambda texts: pa.chunked_array([texts[:2], [], texts[2:]], pa.string()),
    "views": lambda texts: pa.array(texts).cast(pa.string_view()),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("texts", [DOCUMENTS[:-1], ["all ascii here", "", "and here"]])
def test_any_form_of_documents_gives_the_same_counts(form, texts):
    expected = text.CountVectorizer().fit_transform(texts)
    found = text.CountVectorizer().fit_transform(form(texts))
    assert (expected != found).nnz == 0


def test_strings_of_arrow_are_not_copied():
    column = pa.array(["to be", "or not"])
    [batch] = documents.batches(column, documents.Reading(bytes.decode, None, True))
    buffer = column.buffers()[2]
    assert batch.text.__array_interface__["data"][0] == buffer.address


def test_files_are_read_one_at_a_time(tmp_path):
    for number, one in enumerate(DOCUMENTS[:-1]):
        (tmp_path / f"{number}.txt").write_text(one, "utf-8", newline="")
    names = sorted(tmp_path.iterdir())
    expected = text.CountVectorizer().fit_transform(DOCUMENTS[:-1])
    assert (expected != text.CountVectorizer(input="filename").fit_transform(names)).nnz == 0
    opened = [name.open("rb") for name in names]
    assert (expected != text.CountVectorizer(input="file").fit_transform(opened)).nnz == 0
    for file in opened:
        file.close()


def test_plain_bytes_are_cut_into_words():
    assert tokens("École x to 2b".encode()) == ["école".encode(), b"to", b"2b"]


@pytest.mark.parametrize("name", VECTORIZERS)
def test_few_documents_are_counted_as_many_are(name, monkeypatch):
    monkeypatch.setattr(documents, "FEW", 8)
    assert_same(name, {}, DOCUMENTS[:-1])
    with pytest.raises(ValueError, match="must be one column"):
        getattr(text, name)().fit_transform(np.array([["a"]]))


# What is learned adds up.


@pytest.mark.parametrize("name", VECTORIZERS[:2])
@pytest.mark.parametrize("setting", [{}, {"min_df": 2}, {"token_pattern": r"\w+"}], ids=str)
def test_batches_merges_and_forgetting_give_the_fit_of_all(name, setting):
    make = getattr(text, name)
    first, second, third = DOCUMENTS[:2], DOCUMENTS[:1] * 2, DOCUMENTS[3:]
    whole = make(**setting).fit([*first, *second])
    streamed = make(**setting).partial_fit(second).partial_fit(first)
    merged = make(**setting).fit(second).merge(make(**setting).partial_fit(first + second[:1]))
    merged.forget(second[:1])
    revised = make(**setting).fit([*first, *third, *second]).forget(third)
    for other in (streamed, merged, revised):
        assert other.statistics_ == whole.statistics_
        assert other.vocabulary_ == whole.vocabulary_
        assert_same_matrix(whole.transform(DOCUMENTS), other.transform(DOCUMENTS))


def test_what_was_never_learned_cannot_be_forgotten():
    vectorizer = text.CountVectorizer().fit(["to be"])
    with pytest.raises(ValueError, match="not all counted"):
        vectorizer.forget(["or not"])
    with pytest.raises(ValueError, match="nothing would be left"):
        vectorizer.forget(["to be"])
    with pytest.raises(ValueError, match="same class and parameters"):
        vectorizer.merge(text.CountVectorizer(min_df=2).fit(["to", "to"]))
    with pytest.raises(ValueError, match="has no counts"):
        text.CountVectorizer(vocabulary=["to"]).fit(["to"]).merge(vectorizer)


# Bad input.


@pytest.mark.parametrize("name", VECTORIZERS)
@pytest.mark.parametrize("form", [list, iter, pd.Series])
def test_what_is_no_document_is_named(name, form):
    make = getattr(text, name)
    for missing in (None, np.nan, float("nan"), pd.NA):
        with pytest.raises(ValueError, match=r"invalid document.*document 1 .*is missing"):
            make().fit_transform(form(["to be", missing]))
    with pytest.raises(TypeError, match=r"document 1 .* is of type int: '7'"):
        make().fit_transform(form(["to be", 7]))
    with pytest.raises(UnicodeDecodeError, match=r"invalid start byte, in document 1 "):
        make().fit_transform(form([b"to be", b"caf\xff"]))


def test_no_documents_have_no_rows_of_hashes():
    assert text.HashingVectorizer().transform([]).shape == (0, 2**20)


def test_missing_strings_of_columns_are_named():
    for column in (pa.array(["a b", None]), pl.Series(["ab", None])):
        with pytest.raises(ValueError, match=r"document 1 .*is missing"):
            text.CountVectorizer().fit(column)


def test_bytes_of_arrow_that_are_not_utf_8_are_named():
    buffers = [None, pa.array([0, 2, 4], pa.int32()).buffers()[1], pa.py_buffer(b"ab\xffc")]
    column = pa.Array.from_buffers(pa.string(), 2, buffers)
    with pytest.raises(UnicodeDecodeError, match="in document 1 "):
        text.CountVectorizer(lowercase=False).fit(column)


def test_a_string_or_a_table_is_not_taken_for_documents():
    for wrong in ("to be", b"to be"):
        with pytest.raises(ValueError, match="string object received"):
            text.CountVectorizer().fit(wrong)
    for table in (pd.DataFrame({"text": ["a"]}), pl.DataFrame({"text": ["a"]}), np.array([["a"]])):
        for vectorizer in (text.CountVectorizer(), text.HashingVectorizer()):
            with pytest.raises(ValueError, match="must be one column"):
                vectorizer.fit_transform(table)


def test_an_empty_vocabulary_is_reported_with_its_limits():
    with pytest.raises(ValueError, match="empty vocabulary; perhaps"):
        text.CountVectorizer().fit(["a b c"])
    with pytest.raises(ValueError, match=r"2 terms are in 1 to 1 of 2 documents.*2 to 2"):
        text.CountVectorizer(min_df=2).fit(["to", "be"])


def test_a_failed_fit_leaves_the_vectorizer_as_it_was():
    vectorizer = text.TfidfVectorizer(min_df=2).fit(["to be", "to be"])
    before = dict(vars(vectorizer))
    with pytest.raises(ValueError, match="no terms remain"):
        vectorizer.fit(["to", "be"])
    assert vars(vectorizer) == before


def test_a_very_large_document_is_counted():
    large = "to be or not to be " * 200_000
    found = text.CountVectorizer().fit_transform([large])
    assert found.toarray().tolist() == [[400_000, 200_000, 200_000, 400_000]]


# Warnings.


def test_words_without_spaces_suggest_characters():
    sentences = ["今日はとても良い天気ですね" + chr(0x4E00 + i) for i in range(60)]
    with pytest.warns(UserWarning, match='try analyzer="char"'):
        text.CountVectorizer().fit(sentences)


def test_much_text_read_by_python_is_reported(monkeypatch):
    monkeypatch.setattr(text, "MUCH_TEXT", 10)
    for vectorizer in (text.CountVectorizer, text.HashingVectorizer):
        with pytest.warns(UserWarning, match="read by Python because of token_pattern"):
            vectorizer(token_pattern=r"\w+").fit_transform(DOCUMENTS[:1])


# The rest of the contract.


def test_tfidf_of_counts_passes_scikit_learns_checks():
    check_estimator(text.TfidfTransformer(), on_skip=None)


@pytest.mark.parametrize("setting", [{}, {"norm": "l1"}, {"norm": None, "sublinear_tf": True}])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_tfidf_of_counts_is_scikit_learns(setting, dtype):
    counts = text.CountVectorizer(dtype=dtype).fit_transform(DOCUMENTS)
    before = counts.copy()
    expected = peer.TfidfTransformer(**setting).fit_transform(counts)
    assert_same_matrix(expected, text.TfidfTransformer(**setting).fit_transform(counts))
    assert (counts != before).nnz == 0


def test_a_pickled_vectorizer_counts_the_same():
    vectorizer = text.TfidfVectorizer().fit(DOCUMENTS)
    again = pickle.loads(pickle.dumps(vectorizer))
    assert (vectorizer.transform(DOCUMENTS) != again.transform(DOCUMENTS)).nnz == 0


def test_a_vocabulary_that_is_replaced_is_used():
    vectorizer = text.CountVectorizer().fit(["to be"])
    assert vectorizer.transform(["to be"]).sum() == 2
    vectorizer.vocabulary_ = {"not": 0}
    assert vectorizer.transform(["not to be"]).toarray().tolist() == [[1]]


def test_spans_are_where_the_terms_are():
    told = "The École, the école"
    vectorizer = text.CountVectorizer(ngram_range=(1, 2)).fit([told])
    names = vectorizer.get_feature_names_out()
    found = [(told[a:b], names[j]) for a, b, j in vectorizer.spans(told)]
    assert found[:3] == [("The", "the"), ("The École", "the école"), ("École", "école")]
    for analyzer in ("char", "char_wb"):
        vectorizer = text.CountVectorizer(analyzer=analyzer, ngram_range=(2, 3)).fit([told])
        counts = np.bincount([j for _, _, j in vectorizer.spans(told)])
        assert np.array_equal(counts, vectorizer.transform([told]).toarray()[0])


# Real texts.


def movie_reviews(folder):
    with tarfile.open(folder / "movie_reviews" / "review_polarity.tar.gz") as archive:
        files = [member for member in archive if member.name.endswith(".txt")][::10]
        return [archive.extractfile(member).read() for member in files]


def sms(folder):
    with gzip.open(folder / "sms_spam" / "SMSSpamCollection.tsv.gz", "rt", encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t", 1)[1] for line in f]


def newsgroups(folder):
    return pl.read_parquet(folder / "newsgroups20" / "20news_bydate.parquet")["text"][::10]


@pytest.mark.parametrize("read", [movie_reviews, sms, newsgroups])
def test_real_texts_give_the_same_matrix(read, data_folder):
    texts = read(data_folder)
    for name in VECTORIZERS:
        theirs, ours = both(name, {})
        expected = theirs.fit_transform(texts)
        assert_same_matrix(expected, ours.fit_transform(texts))


def test_a_pipeline_is_one_model():
    texts, labels = ["win cash now", "win now", "see you now"], ["spam", "spam", "ham"]
    model = make_pipeline(text.CountVectorizer(), MultinomialNB()).fit(texts, labels)
    assert model.predict(["win"]).tolist() == ["spam"]


def test_a_least_number_of_documents_above_all_names_the_setting_alone():
    with pytest.raises(
        ValueError, match=r"min_df=5 asks for .* at least 5 .* there are 4"
    ) as found:
        text.CountVectorizer(min_df=5).fit(["to be", "or not", "to be", "that"])
    assert "max_df" not in str(found.value)


@pytest.mark.parametrize("name", ["CountVectorizer", "TfidfVectorizer", "HashingVectorizer"])
def test_beside_the_matrix_there_is_a_batch_alone(name):
    """Renaming columns took as much as the matrix, and frequencies were counted a second time."""
    vectorizer = getattr(text, name)
    words = [f"w{j}" for j in range(500)]
    documents = [" ".join(words[i % 7 :: 9]) for i in range(25_000)]
    vectorizer().fit_transform(documents[:100])
    tracemalloc.start()
    X = vectorizer().fit_transform(documents)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - X.data.nbytes - X.indices.nbytes < 2**19 * (1 + 6 + 6)  # a batch and its numbers


def test_what_each_character_is_takes_little_memory_to_find_out():
    """The first text that was not ASCII took 100 MB: every character of Unicode as a string."""
    tracemalloc.start()
    kinds = kinds_of.__wrapped__(N_CHARACTERS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * N_CHARACTERS + 2**22
    assert [bool(kinds[ord(one)] & text_loops.IS_WORD) for one in "aé日_ -"] == [True] * 4 + [
        False
    ] * 2


@pytest.mark.parametrize("input", ["filename", "file"])
def test_many_files_are_read(tmp_path, input):
    """More than a few names that are strings were counted themselves."""
    texts = [f"to be number{i}" for i in range(12)]
    names = [str(tmp_path / f"{i}.txt") for i in range(12)]
    for name, words in zip(names, texts, strict=True):
        Path(name).write_text(words)

    def documents():
        return names if input == "filename" else map(io.StringIO, texts)

    ours, theirs = text.CountVectorizer(input=input), peer.CountVectorizer(input=input)
    assert (ours.fit_transform(documents()) != theirs.fit_transform(documents())).nnz == 0
    assert ours.vocabulary_ == theirs.vocabulary_
    hashed = text.HashingVectorizer(input=input).transform(documents())
    assert (hashed != peer.HashingVectorizer(input=input).transform(documents())).nnz == 0


def test_strings_of_arrow_are_read_as_such_whatever_bytes_would_be():
    texts = ["café au lait", "thé"] * 20
    for column in (pl.Series(texts), pa.chunked_array([texts[:7], texts[7:]])):
        for settings in (
            {"encoding": "latin-1"},
            {"strip_accents": "unicode"},
            {"token_pattern": r"\w+"},
        ):
            ours = CountVectorizer(**settings).fit(column)
            assert ours.vocabulary_ == peer.CountVectorizer(**settings).fit(texts).vocabulary_


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint32, np.float32])
def test_the_most_frequent_terms_are_found_in_any_type_of_counts(dtype):
    texts = ["many " * 300 + "some " * 60 + "few " * 3]
    ours = CountVectorizer(max_features=1, dtype=dtype).fit(texts)
    assert list(ours.vocabulary_) == ["many"]


@pytest.mark.filterwarnings("ignore:Words have")
def test_a_long_term_in_a_table_that_is_half_full():
    texts = [" ".join(f"w{i:04d}" for i in range(2048)) + " " + "x" * 40_000] * 2
    assert CountVectorizer().fit(texts).vocabulary_ == peer.CountVectorizer().fit(texts).vocabulary_


def test_a_given_vocabulary_learns_nothing_and_tables_are_refused_by_streams():
    with pytest.raises(ValueError, match="vocabulary is given"):
        CountVectorizer(vocabulary=["a"]).partial_fit(["a b"])
    for settings in ({}, {"token_pattern": r"\w+"}):
        with pytest.raises(ValueError, match="one column"):
            CountVectorizer(**settings).partial_fit(pl.DataFrame({"text": ["a b"]}))
        with pytest.raises(ValueError, match="string object"):
            CountVectorizer(**settings).partial_fit("a b")


def test_terms_are_marked_where_the_prepared_text_has_them():
    vectorizer = CountVectorizer(token_pattern="[a-z]+").fit(["win in"])
    found = {text: vectorizer.vocabulary_[text] for text in ("win", "in")}
    assert vectorizer.spans("Win in") == [(0, 3, found["win"]), (4, 6, found["in"])]


def test_a_vocabulary_that_is_given_later_has_no_counts():
    vectorizer = CountVectorizer().fit(["a word", "to win"])
    vectorizer.set_params(vocabulary=["win"]).fit(["to win"])
    with pytest.raises(ValueError, match="has no counts"):
        vectorizer.forget(["to win"])


def test_words_are_marked_through_hashes_and_a_selection():
    texts = ["free call now", "love you tomorrow", "free win call", "love you so"] * 5
    y = [1, 0, 1, 0] * 5
    hashing = text.HashingVectorizer(n_features=64, alternate_sign=False, norm=None)
    model = make_pipeline(hashing, SelectKBest(chi2, k=6), LogisticRegression()).fit(texts, y)
    explained = explain(model, "free call love")
    chosen, coef = model[1].get_support(indices=True).tolist(), model[-1].coef_[0]
    column = {word: hashing.transform([word]).indices[0] for word in ("free", "call", "love")}
    assert {explained.text[a:b]: round(c, 9) for a, b, c in explained.marks} == {
        word: round(coef[chosen.index(j)] * (1 if explained.winner == 1 else -1), 9)
        for word, j in column.items()
        if j in chosen
    }
    assert repr(explained) == str(explained)


@pytest.mark.parametrize(
    ("learned", "gone"),
    [
        (["aa bb", "aa"], [""]),
        (["aa aa", "aa", "aa bb"], ["aa aa aa"]),
        (["aa aa aa", "bb"], ["aa"]),
        (["aa"], ["bb"]),
    ],
)
def test_documents_that_were_never_learned_are_not_forgotten(learned, gone):
    vectorizer = CountVectorizer().fit(learned)
    with pytest.raises(ValueError, match="not all counted"):
        vectorizer.forget(gone)


def test_a_term_of_no_document_has_no_weight_without_smoothing():
    vectorizer = text.TfidfVectorizer(vocabulary=["aa", "zz"], smooth_idf=False)
    with np.errstate(divide="ignore"):
        vectorizer.fit(["aa"] * 9)
    with pytest.raises(ValueError, match="infinity"):
        vectorizer.transform(["aa zz"] * 9)
