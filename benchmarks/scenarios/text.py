"""Raw texts to counts, hashes and tf-idf; to a fitted model and its predictions."""

from importlib import import_module

import numpy as np

from benchmarks.data import kept
from benchmarks.scenario import Contender, Data, Quality, Scenario

N_WORDS = 60_000
LENGTH = 200  # words of a document
BYTES_OF_A_WORD = 6.5  # and the space after it
DIFFERENT = 0.92  # of a document's words are, about
PER_NUMBER = 12  # bytes of a count in the matrix, its column included

TRIED = """\
terms placed in the table by how often they occur instead of by the alphabet, so that 94 \
instead of 74 of 100 words are found at the first look (transform 0.73 to 0.56 s, kept); \
strings of a list joined in slices (0.02 s of a pass, kept); looking up and adding to the row \
in one loop, and masks by shifts (nothing); places of a row that are stamped instead of \
cleared (0.02 s). Without a matrix in between there is little to gain: fit and predict of \
naive Bayes take 0.06 of 1.3 s. Of a pass, finding words takes 0.14 s, hashing them 0.06, \
looking them up 0.15, adding to rows 0.09, joining strings 0.05, the matrix in memory 0.06."""


def scenarios(scale: float) -> list[Scenario]:
    n = int(100_000 * scale)
    return [
        vectorizer("CountVectorizer", n, 10, "list"),
        vectorizer("CountVectorizer", n, 10, "Arrow"),
        vectorizer("HashingVectorizer", n, 15, "list"),
        vectorizer("HashingVectorizer", n, 15, "Arrow"),
        vectorizer("TfidfVectorizer", n, 9, "list"),
        model(n),
        small(),
    ]


def word_numbers(n, length, k):
    """Numbers (n, length) of Zipf words, one in ten of which is of the document's class."""
    rng = np.random.default_rng([n, length, k])
    steps = np.cumsum(1.0 / (np.arange(N_WORDS) + 10.0))
    numbers = np.searchsorted(steps / steps[-1], rng.random((n, length)))
    y, shift = rng.integers(k, size=n), rng.integers(N_WORDS, size=k)
    own = rng.random(numbers.shape) < 0.1
    numbers = np.where(own, (numbers + shift[y][:, np.newaxis]) % N_WORDS, numbers)
    return np.minimum(numbers, N_WORDS - 1).astype(np.int32), y


def dictionary():
    """Words of two to eleven letters, frequent ones short, as in English."""
    rng = np.random.default_rng(0)
    letters, words = np.array(list("etaoinshrdlucmfwypvbgkjqxz")), {}
    while len(words) < N_WORDS:
        length = 2 + min(int(rng.geometric(0.25)) + len(words) // 9_000, 9)
        words["".join(rng.choice(letters, length))] = None
    return np.array(list(words), object)


def texts(data: Data):
    """Documents as strings, with their labels."""
    words = dictionary()
    return [" ".join(words[row]) for row in data.X], data.y


def text_bytes(data: Data) -> int:
    """The bytes of the documents: words and the spaces between them."""
    lengths = np.array([len(word) + 1 for word in dictionary()])
    return int(lengths[data.X].sum()) - len(data.X)


def columns(data: Data):
    """The same as a column of Arrow."""
    import pyarrow as pa

    documents, y = texts(data)
    return pa.array(documents, pa.large_string()), y


def vectorizer(name: str, n: int, wanted: float, form: str) -> Scenario:
    suffix = "" if form == "list" else f" from {form}"
    return Scenario(
        name=f"{name}, 100k documents x 200 words{suffix}",
        job=f"fit_transform of 100,000 documents of 200 words, 130 MB of text, given as {form}.",
        data=lambda: kept(word_numbers, n, LENGTH, 2),
        ours=contender("rosenblatt", name, form),
        peers=(contender("sklearn", name, "list", wanted),),
        quality=Quality("different words of a document", words_of_a_document),
        limits=lambda data: {"read": data.X.size * (BYTES_OF_A_WORD + PER_NUMBER)},
        rounds=3,
        text_bytes=text_bytes,
        # The matrix itself, in units of the words' numbers of four bytes; a vocabulary; a batch.
        memory_wanted=DIFFERENT * PER_NUMBER / 4 + 25e6 / (n * LENGTH * 4),
    )


def contender(package: str, name: str, form: str, wanted: float | None = None) -> Contender:
    def run(prepared, seed: int):
        module = import_module(f"{package}.feature_extraction.text")
        return getattr(module, name)().fit_transform(prepared[0])

    distribution = "scikit-learn" if package == "sklearn" else package
    prepare = texts if form == "list" else columns
    return Contender(distribution, f"{name}()", distribution, run, wanted, prepare)


def words_of_a_document(X, data: Data) -> float:
    return X.nnz / X.shape[0]


def model(n: int) -> Scenario:
    return Scenario(
        name="raw text to naive Bayes and its predictions, 100k documents",
        job="Fit CountVectorizer and MultinomialNB in a pipeline to 100,000 documents of 200 "
        "words, and predict them.",
        data=lambda: kept(word_numbers, n, LENGTH, 2),
        ours=pipeline("rosenblatt"),
        peers=(pipeline("sklearn", 18),),
        quality=Quality("held-out accuracy", accuracy),
        limits=lambda data: {"read": 2 * data.X.size * (BYTES_OF_A_WORD + PER_NUMBER)},
        rounds=3,
        text_bytes=lambda data: 2 * text_bytes(data),
        memory_wanted=DIFFERENT * PER_NUMBER / 4 + 35e6 / (n * LENGTH * 4),
        tried=TRIED,
    )


def pipeline(package: str, wanted: float | None = None) -> Contender:
    def run(prepared, seed: int):
        from sklearn.pipeline import make_pipeline

        text = import_module(f"{package}.feature_extraction.text")
        bayes = import_module(f"{package}.naive_bayes")
        documents, y = prepared
        made = make_pipeline(text.CountVectorizer(), bayes.MultinomialNB()).fit(documents, y)
        made.predict(documents)
        return made

    distribution = "scikit-learn" if package == "sklearn" else package
    settings = "CountVectorizer(), MultinomialNB()"
    return Contender(distribution, settings, distribution, run, wanted, texts)


def accuracy(made, data: Data) -> float:
    words = dictionary()
    documents = [" ".join(words[row]) for row in data.X_test[:2_000]]
    return float((made.predict(documents) == data.y_test[:2_000]).mean())


def small() -> Scenario:
    return Scenario(
        name="CountVectorizer, small data of 1,000 short documents",
        job="fit_transform of 1,000 documents of 12 words.",
        data=lambda: kept(word_numbers, 1_000, 12, 2),
        ours=contender("rosenblatt", "CountVectorizer", "list"),
        peers=(contender("sklearn", "CountVectorizer", "list", 1),),
        quality=Quality("different words of a document", words_of_a_document),
        limits=lambda data: {"read": data.X.size * (BYTES_OF_A_WORD + PER_NUMBER)},
        rounds=21,
        memory_wanted=None,
    )
