"""The spam filter on the SpamAssassin corpus, beside bogofilter and a pipeline of scikit-learn."""

import functools
import shutil
import subprocess
import tarfile
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.data import CACHE
from benchmarks.scenario import Contender, Data, Quality, Scenario
from benchmarks.scenarios.trees import read_once

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
CORPUS, TEXTS = SHARED / "spamassassin", SHARED / "sms_spam" / "SMSSpamCollection.tsv.gz"


def scenarios(scale: float) -> list[Scenario]:
    return [learning(), classifying()]


def learning() -> Scenario:
    return Scenario(
        name="spam, learn 1,500 messages",
        job="Learn 1,500 raw messages of SpamAssassin's corpus, one file each, into a new store.",
        data=corpus,
        ours=ours(learn, None),
        peers=(bogofilter(bogofilter_learn, 1), sklearn(sklearn_learn, None)),
        quality=Quality("spam caught with 0.1% of ham lost", caught_by, slack=0.01),
        limits=read_once,
        rounds=5,
        memory_wanted=None,
        tried="Polars (`str.extract_all`, `explode`, `group_by`) for the words alone: 75 ms, and "
        "65 ms more for headers and links in Python; the compiled loops take 31 ms for all "
        "tokens. Python alone: 130 ms. Python's `email` in place of `message`: 120 ms, not "
        "40. Compiled loops for pages of HTML: no faster than Python with a cache of tags. "
        "Rows of tokens one by one: 42 ms, in groups of 100: 25; in random order: 75; as "
        "lists in JSON with ids and an index made at the end: 27. Tokens of messages as ids: "
        "a smaller file (3 MB, not 6), and 25 ms less, but tokens need ids and an index then. "
        "A larger cache of pages: no difference. The whole command takes 0.16 s to start "
        "(NumPy 0.08, llvmlite 0.035), bogofilter 0.20 s in all.",
    )


def classifying() -> Scenario:
    return Scenario(
        name="spam, classify 1,500 messages",
        job="Judge 1,500 raw messages of SpamAssassin's corpus after learning the other half.",
        data=corpus,
        ours=ours(classify, None, learn),
        peers=(
            bogofilter(classify, 1, bogofilter_learn),
            sklearn(classify, None, sklearn_learn),
        ),
        quality=Quality("spam caught with 0.1% of ham lost", caught_by, slack=0.01),
        limits=read_once,
        rounds=5,
        memory_wanted=None,
    )


def corpus() -> Data:
    """Paths of the messages, half to learn and half to judge, at random."""
    if not CORPUS.exists():
        raise FileNotFoundError(f"{CORPUS} is not here: the spam rows need the shared data.")
    CACHE.mkdir(exist_ok=True)
    folder = CACHE / "spamassassin"
    if not folder.exists():
        draft = Path(tempfile.mkdtemp(dir=CACHE))
        for name in ("easy_ham", "spam"):
            with tarfile.open(CORPUS / f"{name}.tar.gz") as archive:
                archive.extractall(draft, filter="data")
        draft.rename(folder)
    files = sorted(path for path in folder.glob("*/*") if path.is_file())
    X = np.array([str(path) for path in files])
    y = np.array([path.parent.name == "spam" for path in files])
    order = np.random.RandomState(0).permutation(len(X))
    half = len(X) // 2
    return Data(X[order[:half]], y[order[:half]], X[order[half:]], y[order[half:]], CACHE)


def text_messages() -> tuple[list[str], list[bool]]:
    """Files with a text message of the SMS collection each, and which are spam."""
    from rosenblatt.spam import mails

    folder = CACHE / "sms_spam"
    if not folder.exists():
        draft = Path(tempfile.mkdtemp(dir=CACHE))
        for n, mail in enumerate(mails(str(TEXTS))):
            (draft / f"{n:05}-{'spam' if mail.label else 'ham'}").write_bytes(mail.raw)
        draft.rename(folder)
    files = sorted(map(str, folder.iterdir()))
    return files, [file.endswith("-spam") for file in files]


def caught_by(model, data: Data) -> float:
    """The share of spam that scores above all but 0.1% of the ham."""
    from rosenblatt.spam.evaluation import caught

    return caught(np.asarray(model(data)), data.y_test, 0.001)


def with_model(run, before):
    """`prepare` and `run` of a contender: the model is made beforehand if it is not the job."""
    if before is None:
        return (lambda data: data), run
    return (lambda data: (before(data, 0), data)), lambda prepared, seed: run(*prepared)


def ours(run, wanted, before=None) -> Contender:
    prepare, job = with_model(run, before)
    return Contender("rosenblatt", "chi-square", "rosenblatt", job, wanted, prepare)


def learn(data: Data, seed: int):
    from rosenblatt.spam import SpamFilter

    folder = tempfile.TemporaryDirectory()
    with SpamFilter(f"{folder.name}/spam.db") as spam_filter, compiled():
        labels = data.y.astype(int).tolist()
        mails = zip(_mails(data.X), labels, strict=True)
        spam_filter.learn(mail._replace(label=label) for mail, label in mails)
    return functools.partial(_scores, folder)


def _scores(folder, data: Data):
    from rosenblatt.spam import SpamFilter

    with SpamFilter(f"{folder.name}/spam.db", read_only=True) as spam_filter, compiled():
        judged = spam_filter.classify_all(_mails(data.X_test))
        return [judgement.probability for _, judgement, _ in judged]


def _mails(paths):
    from rosenblatt.spam import mails

    for path in paths.tolist():
        yield from mails(path)


@contextmanager
def compiled():
    """The loops of large batches, even if nobody has compiled them yet."""
    from rosenblatt.spam import spam_filter

    before, spam_filter.MANY_TO_COMPILE = spam_filter.MANY_TO_COMPILE, 0
    try:
        yield
    finally:
        spam_filter.MANY_TO_COMPILE = before


def classify(model, data: Data):
    """Judge by a model that was learned."""
    scores = model(data)
    return lambda data: scores


def bogofilter(run, wanted, before=None) -> Contender:
    prepare, job = with_model(run, before)
    return Contender("bogofilter", "as installed, -b and -TT", "numpy", job, wanted, prepare)


def bogofilter_learn(data: Data, seed: int):
    if shutil.which("bogofilter") is None:
        raise FileNotFoundError("bogofilter is not installed")
    folder = tempfile.TemporaryDirectory()
    for flag, paths in (("-n", data.X[~data.y]), ("-s", data.X[data.y])):
        _bogofilter(folder, paths, flag)
    return functools.partial(_bogofilter_scores, folder)


def _bogofilter(folder, paths, *flags: str) -> str:
    command = ["bogofilter", "-d", folder.name, *flags, "-b"]
    done = subprocess.run(command, input="\n".join(paths), text=True, capture_output=True)
    return done.stdout


def _bogofilter_scores(folder, data: Data):
    lines = _bogofilter(folder, data.X_test, "-TT").splitlines()
    return [float(line.split()[-1]) for line in lines]


def sklearn(run, wanted, before=None) -> Contender:
    prepare, job = with_model(run, before)
    words = "CountVectorizer(binary), MultinomialNB(alpha=0.01) on the raw text"
    return Contender("scikit-learn", words, "scikit-learn", job, wanted, prepare)


def sklearn_learn(data: Data, seed: int):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    vectorizer = CountVectorizer(input="filename", encoding="latin-1", binary=True)
    model = make_pipeline(vectorizer, MultinomialNB(alpha=0.01)).fit(data.X, data.y)
    return lambda data: np.diff(model.predict_log_proba(data.X_test), axis=1)[:, 0]
