"""The spam filter: learn, classify, explain, correct and forget messages.

Nothing here imports NumPy: one message in a new process is judged before that would be loaded.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from email.utils import mktime_tz, parsedate_tz
from pathlib import Path
from typing import Any, NamedTuple, Self

from .mailbox import Mail
from .message import Message, check_mail, parse
from .scoring import COUNTING, DEFAULT, CountingModel, Verdict
from .store import HAM, LABELS, OWN_HEADER, SPAM, Lesson, Store, digest_of
from .tokens import tokens

BATCH = 5000  # messages learned in one transaction
FITTED = ("averaged perceptron", "logistic regression", "nearest neighbours")
MODELS = (*COUNTING, *FITTED)
# Below the first ham, above the second spam, unsure between: chosen on held-out messages, see
# docs/spam.md.
THRESHOLDS = {"chi-square": (0.4, 0.55)}
OTHER_THRESHOLDS = (0.1, 0.9)
MOST_IMBALANCE = 10


class Judgement(NamedTuple):
    """What the filter says of a message."""

    label: str  # ham or spam, whichever is more probable
    probability: float  # of spam
    band: str  # ham, spam or unsure


class Learned(NamedTuple):
    """What came of a call of `learn`."""

    ham: int
    spam: int
    repeated: int  # messages that were known already
    refused: list[tuple[str, str]]  # names of what could not be read, and why


def default_store() -> Path:
    """The user's own store."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "rosenblatt" / "spam.db"


class SpamFilter:
    """A spam filter that learns from messages and keeps what it learned in a file.

    Parameters
    ----------
    store : the SQLite file; made at the first `learn`, readable by its owner alone.
    model : one of `MODELS`; the default follows from counts alone, so that it learns, corrects and
        forgets at once. The last three are fitted to the history.
    history : keep the token counts of each message, which `forget` by digest, `evaluate` and the
        fitted models need; of a new store only.
    read_only : open the store for classifying only.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> filter = SpamFilter(folder.name + "/spam.db")
    >>> spam = [f"Subject: win\\n\\nClick to win prize {k} now".encode() for k in range(20)]
    >>> ham = [f"Subject: lunch\\n\\nShall we meet on day {k}?".encode() for k in range(20)]
    >>> filter.learn([Mail(str(k), raw) for k, raw in enumerate(ham)], "ham").ham
    20
    >>> filter.learn([Mail(str(k), raw) for k, raw in enumerate(spam)], "spam").spam
    20
    >>> filter.classify(b"Subject: prize\\n\\nYou win a prize, click now").band
    'spam'
    >>> filter.forget(spam[0])
    'spam'
    >>> filter.close(); folder.cleanup()
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        model: str = DEFAULT,
        thresholds: tuple[float, float] | None = None,
        history: bool | None = None,
        read_only: bool = False,
    ) -> None:
        if model not in MODELS:
            raise ValueError(f"model must be one of {', '.join(MODELS)}; got {model!r}.")
        low, high = thresholds or THRESHOLDS.get(model, OTHER_THRESHOLDS)
        if not 0 <= low <= high <= 1:
            raise ValueError(f"thresholds must be 0 <= ham <= spam <= 1; got {low:g} and {high:g}.")
        self.model, self.thresholds = model, (low, high)
        self.store = Store.open(store or default_store(), history=history, read_only=read_only)
        self._scorer: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def learn(self, mails: Iterable[Mail], label: str | None = None) -> Learned:
        """Learn messages as ham or spam; without `label` each must bring its own.

        Messages that were learned before are counted once.
        """
        result = Learned(0, 0, 0, [])
        batch: list[Lesson] = []
        for lesson in self._lessons(mails, label, result.refused):
            batch.append(lesson)
            if len(batch) >= BATCH:
                result = self._learn(batch, result)
                batch = []
        return self._learn(batch, result) if batch else result

    def _lessons(
        self, mails: Iterable[Mail], label: str | None, refused: list[tuple[str, str]]
    ) -> Iterator[Lesson]:
        for mail in mails:
            number = mail.label if label is None else LABELS.index(label)
            if number is None:
                refused.append((mail.name, "it has no label"))
                continue
            try:
                message = read(mail.raw)
            except ValueError as error:
                refused.append((mail.name, str(error)))
                continue
            yield lesson(mail.raw, message, number, mail.name)

    def _learn(self, batch: list[Lesson], before: Learned) -> Learned:
        new = self.store.learn(batch)
        taken = [lesson.label for lesson, fresh in zip(batch, new, strict=True) if fresh]
        return before._replace(
            ham=before.ham + taken.count(HAM),
            spam=before.spam + taken.count(SPAM),
            repeated=before.repeated + len(batch) - len(taken),
        )

    def classify(self, raw: bytes) -> Judgement:
        """Judge one message."""
        return self.judgement(self.scorer().probability(tokens(read(raw))))

    def classify_all(self, mails: Iterable[Mail]) -> Iterator[tuple[Mail, Judgement | None, str]]:
        """Judge messages one after the other; with those that cannot be read, the reason."""
        scorer = self.scorer(all_tokens=True)
        for mail in mails:
            try:
                yield mail, self.judgement(scorer.probability(tokens(read(mail.raw)))), ""
            except ValueError as error:
                yield mail, None, str(error)

    def explain(self, raw: bytes) -> Verdict:
        """The probability of a message with the tokens that decided, strongest first."""
        verdict: Verdict = self.scorer().verdict(tokens(read(raw)))
        return verdict

    def correct(self, raw: bytes, label: str) -> str | None:
        """Learn a message as `label` and forget what it was learned as, which is returned."""
        message = read(raw)
        old = self.store.correct(lesson(raw, message, LABELS.index(label)))
        return None if old is None else LABELS[old]

    def forget(self, raw: bytes | None = None, *, digest: bytes | None = None) -> str:
        """Forget a message, exactly; return what it was learned as. Its digest is enough."""
        if raw is not None:
            return LABELS[self.store.forget(digest_of(raw), tokens(parse(raw)))]
        if digest is None:
            raise ValueError("forget needs the message or its digest.")
        return LABELS[self.store.forget(digest)]

    def judgement(self, probability: float) -> Judgement:
        """The label and the band of a probability."""
        low, high = self.thresholds
        band = "spam" if probability >= high else "ham" if probability <= low else "unsure"
        if min(self.store.totals().messages) == 0:
            band = "unsure"
        return Judgement(LABELS[probability > 0.5], probability, band)

    def scorer(self, all_tokens: bool = False) -> Any:
        """The model as the store has it now; kept until the counts change."""
        revision = self.store.totals().revision
        if self._scorer is None or self._scorer.totals.revision != revision:
            if self.model in COUNTING:
                self._scorer = CountingModel(self.store, self.model, all_tokens=all_tokens)
            else:
                from .fitted_models import fitted_model

                self._scorer = fitted_model(self.store, self.model)
        return self._scorer

    def balance_warning(self) -> str:
        """A sentence if ham and spam are badly out of balance or too few, else nothing."""
        n_ham, n_spam = self.store.totals().messages
        few, many = sorted((n_ham, n_spam))
        if few == 0 and many:
            lacking = "spam" if n_spam == 0 else "ham"
            return f"No {lacking} has been learned yet, so every message is unsure."
        if many > MOST_IMBALANCE * few:
            return (
                f"{n_ham:,} ham and {n_spam:,} spam have been learned: probabilities are better "
                "if neither is more than ten times the other."
            )
        return ""


def read(raw: bytes) -> Message:
    """Take a message apart; what is no message is refused."""
    check_mail(raw)
    return parse(raw)


def lesson(raw: bytes, message: Message, label: int, name: str = "") -> Lesson:
    """What is learned of a message."""
    return Lesson(digest_of(raw), label, tokens(message), sent(message), name)


def sent(message: Message) -> float | None:
    """When a message was sent, in seconds; None if it has no date that can be read."""
    with suppress(ValueError, OverflowError, TypeError, IndexError):
        date = parsedate_tz(message.header("date")[:100])
        return None if date is None else float(mktime_tz(date))
    return None


def marked(raw: bytes, headers: Mapping[str, str]) -> bytes:
    r"""A message with headers of ours at its head; those that came with it are removed.

    >>> marked(b"X-Rosenblatt: ham\nSubject: Hi\n\nX-Rosenblatt: stays\n", {"X-Rosenblatt": "spam"})
    b'X-Rosenblatt: spam\nSubject: Hi\n\nX-Rosenblatt: stays\n'
    """
    first = b""
    if raw.startswith(b"From "):
        end = raw.find(b"\n") + 1 or len(raw)
        first, raw = raw[:end], raw[end:]
    place = re.search(rb"\r?\n\r?\n", raw)
    end = len(raw) if place is None else place.end()
    line = b"\r\n" if raw[: raw.find(b"\n") + 1].endswith(b"\r\n") else b"\n"
    ours = b"".join(f"{name}: {value}".encode() + line for name, value in headers.items())
    return first + ours + OWN_HEADER.sub(b"", raw[:end]) + raw[end:]
