"""The spam filter: learn, classify, explain, correct and forget messages.

One message is classified without NumPy, whose import takes longer.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from .mailbox import AnyMessage, Mail, mail_of, mails_of
from .message import BYTE_ORDER_MARK, Message, check_mail, end_of_headers, parse
from .scoring import COUNTING, DEFAULT, CountingModel, Verdict
from .store import HAM, LABELS, OWN_HEADER, SPAM, Lesson, Store, digest_of
from .tokens import tokens

DATE = re.compile(
    r"(?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) "
    r"(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)(?: \([A-Z]+\))?$",
    re.A,
)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
EPOCH = date(1970, 1, 1).toordinal()
MOST_LEARNED = 5000  # messages in one transaction
MOST_AT_ONCE = 250  # messages that are in memory
# Numbers of messages from which on it pays to load the machine code of loops, and to compile it.
MANY_TO_LEARN, MANY_TO_JUDGE, MANY_TO_COMPILE = 250, 250, 5000
FITTED = ("averaged perceptron", "logistic regression", "nearest neighbors")
MODELS = (*COUNTING, *FITTED)
# Below the first ham, above the second spam, unsure between: chosen on held-out messages, see
# docs/spam.md.
THRESHOLDS = {"chi-square": (0.4, 0.55)}
OTHER_THRESHOLDS = (0.1, 0.9)
MOST_IMBALANCE = 10


class Judgement(NamedTuple):
    """The label of a message, its probability of spam and its band."""

    label: str  # ham or spam, whichever is more probable
    probability: float  # of spam
    band: str  # ham, spam or unsure


class Learned(NamedTuple):
    """Result of `learn`: numbers of messages, and those that were refused."""

    ham: int
    spam: int
    repeated: int  # messages that had been learned before
    refused: list[tuple[str, str]]  # names of messages, and the reason

    def and_more(self, learned: Iterable[tuple[int, bool]]) -> "Learned":
        """Return the result with further messages: their labels, and whether each was new."""
        kinds = [label if new else None for label, new in learned]
        return self._replace(
            ham=self.ham + kinds.count(HAM),
            spam=self.spam + kinds.count(SPAM),
            repeated=self.repeated + kinds.count(None),
        )


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
        self._learner: Any = None  # once there was a large batch

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def learn(
        self, messages: AnyMessage | Iterable[AnyMessage], label: str | None = None
    ) -> Learned:
        """Learn one or more messages as ham or spam; without `label` each must have its own.

        A message is bytes, text, an `email.message.Message` or a `Mail`, as in all other methods;
        only a `Mail` has a label. Messages that were learned before are counted once.
        """
        if label is not None and label not in LABELS:
            raise ValueError(f"label must be ham or spam; got {label!r}.")
        result, n = Learned(0, 0, 0, []), 0
        lessons = self._lessons(messages, label, result.refused)
        while some := list(islice(lessons, MOST_AT_ONCE)):
            batch = chain(some, islice(lessons, MOST_LEARNED - len(some)))
            if self._learner is None and worth_loops(n + len(some), MANY_TO_LEARN):
                from .batch_learning import BatchLearner

                self._learner = BatchLearner(self.store)
            learn = self._learner.learn if self._learner else self._learn_batch
            learned = learn(batch)
            n += len(learned)
            result = result.and_more(learned)
        return result

    def _lessons(
        self,
        messages: AnyMessage | Iterable[AnyMessage],
        label: str | None,
        refused: list[tuple[str, str]],
    ) -> Iterator[tuple[Lesson, Message]]:
        """Yield the lesson of each message; unreadable and unlabeled ones are refused."""
        for mail in mails_of(messages):
            number = mail.label if label is None else LABELS.index(label)
            try:
                if number is None:
                    raise ValueError("it has no label")
                yield lesson_of(mail.raw, number, mail.name)
            except ValueError as error:
                refused.append((mail.name, str(error)))

    def _learn_batch(self, batch: Iterable[tuple[Lesson, Message]]) -> list[tuple[int, bool]]:
        """Learn messages in one transaction; return their labels and which of them were new."""
        lessons = [with_tokens(*one) for one in batch]
        new = self.store.learn(lessons)
        return [(lesson.label, is_new) for lesson, is_new in zip(lessons, new, strict=True)]

    def classify(self, message: AnyMessage) -> Judgement:
        """Classify one message."""
        return self.judgement(self.scorer().probability(tokens(read_message(mail_of(message).raw))))

    def classify_all(
        self, messages: Iterable[AnyMessage]
    ) -> Iterator[tuple[Mail, Judgement | None, str]]:
        """Classify messages in their order; unreadable ones come with the reason instead."""
        scorer: Any = None
        n, left = 0, mails_of(messages)
        while mails := list(islice(left, MOST_AT_ONCE)):
            n += len(mails)
            if scorer is None or (n >= MANY_TO_COMPILE and isinstance(scorer, OneByOne)):
                scorer = self._scorer_of_many(n)
            found: list[Message | str] = []
            for mail in mails:
                try:
                    found.append(read_message(mail.raw))
                except ValueError as error:
                    found.append(str(error))
            readable = [message for message in found if not isinstance(message, str)]
            trained = self._trained()
            judged = (self.judgement(p, trained) for p in scorer.probabilities(readable))
            for mail, message in zip(mails, found, strict=True):
                if isinstance(message, str):
                    yield mail, None, message
                else:
                    yield mail, next(judged), ""

    def _scorer_of_many(self, n: int) -> Any:
        if self.model in COUNTING and worth_loops(n, MANY_TO_JUDGE):
            from .batch_scoring import BatchScorer

            return BatchScorer(self.store, self.model)
        return OneByOne(self.scorer(all_tokens=True))

    def explain(self, message: AnyMessage) -> Verdict:
        """Return the probability of a message with its evidence, the largest weights first."""
        verdict: Verdict = self.scorer().verdict(tokens(read_message(mail_of(message).raw)))
        return verdict

    def correct(self, message: AnyMessage, label: str) -> str | None:
        """Learn a message as `label`; return the label that it had before."""
        old = self.store.correct(with_tokens(*lesson_of(mail_of(message).raw, LABELS.index(label))))
        return None if old is None else LABELS[old]

    def forget(self, message: AnyMessage | None = None, *, digest: bytes | None = None) -> str:
        """Forget a message or its digest; return the label that it was learned with."""
        if message is not None:
            raw = mail_of(message).raw
            return LABELS[self.store.forget(digest_of(raw), tokens(parse(raw)))]
        if digest is None:
            raise ValueError("forget needs the message or its digest.")
        return LABELS[self.store.forget(digest)]

    def judgement(self, probability: float, trained: bool | None = None) -> Judgement:
        """Return the label and the band of a probability; all are unsure without ham or spam."""
        if trained is None:
            trained = self._trained()
        low, high = self.thresholds
        band = "spam" if probability >= high else "ham" if probability <= low else "unsure"
        if not trained:
            band = "unsure"
        return Judgement(LABELS[probability > 0.5], probability, band)

    def _trained(self) -> bool:
        """Return whether both ham and spam have been learned."""
        return bool(min(self.scorer().n_messages) > 0)

    def scorer(self, all_tokens: bool = False) -> Any:
        """Return the model of the present counts; it is kept until they change."""
        if self._scorer is None or self._scorer.revision != self.store.revision():
            if self.model in COUNTING:
                self._scorer = CountingModel(self.store, self.model, all_tokens=all_tokens)
            else:
                from .fitted_models import fitted_model

                self._scorer = fitted_model(self.store, self.model)
        return self._scorer

    def balance_warning(self) -> str:
        """Return a warning if ham or spam are missing or far fewer than the other, else ""."""
        n_ham, n_spam = self.store.n_messages()
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


def worth_loops(n: int, many: int) -> bool:
    """Return whether compiled loops, with the time to load them, read n messages faster."""
    if n < many or n >= MANY_TO_COMPILE:
        return n >= many
    from .batches import count_messages

    return count_messages.is_kept()


class OneByOne:
    """A model that classifies one message after the other, with the interface of `BatchScorer`."""

    def __init__(self, scorer: Any) -> None:
        self.scorer = scorer

    def probabilities(self, messages: Iterable[Message]) -> list[float]:
        """Return the probability of spam of each message."""
        return [self.scorer.probability(tokens(message)) for message in messages]


def read_message(raw: bytes) -> Message:
    """Split a message into its parts; refuse what is not a message."""
    check_mail(raw)
    return parse(raw)


def lesson_of(raw: bytes, label: int, name: str = "") -> tuple[Lesson, Message]:
    """Return a message as the store learns it, without its tokens, and the message to count."""
    message = read_message(raw)
    if not name.isascii():  # the name of a file need not be valid UTF-8, as the store needs it
        name = name.encode(errors="backslashreplace").decode()
    return Lesson(digest_of(raw), label, {}, sent(message), name), message


def with_tokens(lesson: Lesson, message: Message) -> Lesson:
    """Return a lesson with the tokens of its message."""
    return lesson._replace(tokens=tokens(message))


def sent(message: Message) -> float | None:
    """Return the time a message was sent, in seconds, or None without a valid date."""
    value = message.header("date")[:100]
    with suppress(ValueError, OverflowError, TypeError, IndexError):
        if usual := DATE.match(value):  # a fifth of the time
            day, month, year, hour, minute, second, sign, hours, minutes = usual.groups()
            days = date(int(year), MONTHS.index(month) + 1, int(day)).toordinal() - EPOCH
            east = (int(hours) * 60 + int(minutes)) * (-60 if sign == "-" else 60)
            return float(((days * 24 + int(hour)) * 60 + int(minute)) * 60 + int(second) - east)
        from email.utils import mktime_tz, parsedate_tz  # takes a tenth of a command to load

        parsed = parsedate_tz(value)
        return None if parsed is None else float(mktime_tz(parsed))
    return None


def marked(raw: bytes, headers: Mapping[str, str]) -> bytes:
    r"""Return a message with headers of ours at its head, instead of those that it came with.

    >>> marked(b"X-Rosenblatt: ham\nSubject: Hi\n\nX-Rosenblatt: stays\n", {"X-Rosenblatt": "spam"})
    b'X-Rosenblatt: spam\nSubject: Hi\n\nX-Rosenblatt: stays\n'
    """
    first, raw = b"", raw.removeprefix(BYTE_ORDER_MARK)
    if raw.startswith(b"From "):
        end = raw.find(b"\n") + 1 or len(raw)
        first, raw = raw[:end], raw[end:]
    end = end_of_headers(raw)
    line = b"\r\n" if raw[: raw.find(b"\n") + 1].endswith(b"\r\n") else b"\n"
    ours = b"".join(f"{name}: {value}".encode() + line for name, value in headers.items())
    return first + ours + OWN_HEADER.sub(b"", raw[:end]) + raw[end:]
