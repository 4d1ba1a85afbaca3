"""Evaluation of the filter on messages that it has not learned.

`time` learns a first part of the messages by their dates, classifies the next block, learns it, and
goes on. `folds` is ten-fold cross-validation. No message is classified by a model that has learned
it or a copy of it.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_curve

from .mailbox import Mail
from .scoring import COUNTING, CountingModel
from .spam_filter import MODELS, OTHER_THRESHOLDS, THRESHOLDS, lesson_of, with_tokens
from .store import HAM, SPAM, Lesson, Store

PROTOCOLS = ("time", "folds")
N_BLOCKS = 10
HAM_LOST = (0.0, 0.001, 0.005)
SPAM_CAUGHT = (0.9, 0.95, 0.99)
FEWEST = 20  # messages of each class


class Evaluation(NamedTuple):
    """Probabilities of the classified messages, in arrays of one number per message."""

    model: str
    protocol: str
    names: list[str]
    is_spam: NDArray[np.bool_]
    probability: NDArray[np.float64]
    n_examples: int
    thresholds: tuple[float, float]

    def caught(self, ham_lost: float) -> float:
        """Return the recall of spam at a false positive rate of at most `ham_lost`."""
        return caught(self.probability, self.is_spam, ham_lost)

    def lost(self, spam_caught: float) -> float:
        """Return the false positive rate at a recall of at least `spam_caught`."""
        return lost(self.probability, self.is_spam, spam_caught)

    def area(self) -> float:
        """Return the area under the ROC curve."""
        return area(self.probability, self.is_spam)

    def bands(self) -> dict[str, tuple[int, int]]:
        """Return the number of ham and of spam in each band."""
        low, high = self.thresholds
        p, spam = self.probability, self.is_spam
        inside = {"ham": p <= low, "spam": p >= high}
        inside["unsure"] = ~(inside["ham"] | inside["spam"])
        return {
            name: (int(np.sum(mask & ~spam)), int(np.sum(mask & spam)))
            for name, mask in inside.items()
        }

    def most_wrong(self, most: int = 10) -> list[tuple[str, str, float]]:
        """Return name, label and probability of the messages with the largest errors."""
        wrong = np.where(self.is_spam, 1 - self.probability, self.probability)
        order = np.argsort(-wrong, kind="stable")[:most]
        truth = np.where(self.is_spam, "spam", "ham")
        return [
            (self.names[i], str(truth[i]), float(self.probability[i]))
            for i in order
            if wrong[i] > 0.5
        ]


def caught(score: NDArray[Any], is_spam: NDArray[np.bool_], ham_lost: float) -> float:
    """Return the largest recall of spam at a false positive rate of at most `ham_lost`."""
    lost_by, caught_by, _ = roc_curve(is_spam, score, drop_intermediate=False)
    return float(caught_by[lost_by <= ham_lost].max())


def lost(score: NDArray[Any], is_spam: NDArray[np.bool_], spam_caught: float) -> float:
    """Return the smallest false positive rate at a recall of at least `spam_caught`."""
    lost_by, caught_by, _ = roc_curve(is_spam, score, drop_intermediate=False)
    return float(lost_by[caught_by >= spam_caught].min())


def area(score: NDArray[Any], is_spam: NDArray[np.bool_]) -> float:
    """Return the probability that spam scores above ham; ties count half."""
    ham = np.sort(score[~is_spam])  # exact, unlike the sum of trapezoids
    below, up_to = (np.searchsorted(ham, score[is_spam], side) for side in ("left", "right"))
    return float(np.mean(below + up_to) / (2 * len(ham)))


def examples_of_mails(mails: Iterable[tuple[Mail, int | None]]) -> list[Lesson]:
    """Return the lessons of messages, without those that are refused or unlabeled."""
    found = []
    for mail, label in mails:
        with suppress(ValueError):
            if label is not None:
                found.append(with_tokens(*lesson_of(mail.raw, label, mail.name)))
    return found


def examples_of_store(store: Store) -> list[Lesson]:
    """Return the lessons of a store's history."""
    return [one._replace(name=one.name or one.digest.hex()) for one in store.messages()]


def evaluate_filter(
    examples: Sequence[Lesson], *, model: str = "chi-square", protocol: str = "time", seed: int = 0
) -> Evaluation:
    """Classify every message by a model that has not learned it."""
    if model not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}; got {model!r}.")
    judged, probabilities = [], []
    for train, test in blocks_of(examples, protocol, seed):
        scorer = _trained(train, model)
        judged += test
        probabilities += [scorer.probability(example.tokens) for example in test]
    return Evaluation(
        model,
        protocol,
        [example.name for example in judged],
        np.array([example.label for example in judged], bool),
        np.array(probabilities),
        len({example.digest for example in examples}),
        THRESHOLDS.get(model, OTHER_THRESHOLDS),
    )


Block = tuple[list[Lesson], list[Lesson]]


def blocks_of(examples: Sequence[Lesson], protocol: str, seed: int = 0) -> Iterator[Block]:
    """Yield training and test messages of each block; copies count once."""
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol must be one of {', '.join(PROTOCOLS)}; got {protocol!r}.")
    examples = list({example.digest: example for example in examples}.values())
    n_spam = sum(example.label for example in examples)
    if min(n_spam, len(examples) - n_spam) < FEWEST:
        raise ValueError(
            f"An evaluation needs {FEWEST} ham and {FEWEST} spam at the least; there are "
            f"{len(examples) - n_spam} and {n_spam}."
        )
    return _in_time(examples) if protocol == "time" else _at_random(examples, seed)


def _in_time(examples: list[Lesson]) -> Iterator[Block]:
    """Yield all earlier messages and the next block; messages without a date are the last."""
    order = sorted(examples, key=lambda e: (e.sent is None, e.sent or 0.0, e.digest))
    ends = [round(k * len(order) / N_BLOCKS) for k in range(N_BLOCKS + 1)]
    for start, end in itertools.pairwise(ends[1:]):
        labels = Counter(example.label for example in order[:start])
        if min(labels[HAM], labels[SPAM]) > 0:
            yield order[:start], order[start:end]


def _at_random(examples: list[Lesson], seed: int) -> Iterator[Block]:
    """Yield ten stratified folds."""
    order = np.random.RandomState(seed).permutation(len(examples))
    ranks: Counter[int] = Counter()
    fold = {}
    for i in order:
        label = examples[i].label
        fold[int(i)] = ranks[label] % N_BLOCKS
        ranks[label] += 1
    for k in range(N_BLOCKS):
        yield (
            [e for i, e in enumerate(examples) if fold[i] != k],
            [e for i, e in enumerate(examples) if fold[i] == k],
        )


def _trained(train: list[Lesson], model: str) -> Any:
    """Return a model of these messages alone."""
    store = Store.in_memory(history=model not in COUNTING)
    store.learn(train)
    if model in COUNTING:
        return CountingModel(store, model, all_tokens=True)
    from .fitted_models import fitted_model

    return fitted_model(store, model)


def summary(found: Evaluation) -> str:
    """Return recall and false positive rates, then the bands, as text."""
    n_ham, n_spam = int(np.sum(~found.is_spam)), int(np.sum(found.is_spam))
    how = "after learning what came before" if found.protocol == "time" else "in ten random folds"
    lines = [f"{found.model} judged {n_ham:,} ham and {n_spam:,} spam, {how}."]
    for ham_lost in HAM_LOST:
        lost = "no ham" if ham_lost == 0 else f"{ham_lost:.1%} of the ham"
        lines.append(f"  {found.caught(ham_lost):6.1%} of the spam caught with {lost} lost")
    for spam_caught in SPAM_CAUGHT:
        lines.append(
            f"  {found.lost(spam_caught):6.2%} of the ham lost with {spam_caught:.0%} of the "
            "spam caught"
        )
    lines.append(f"  {found.area():.5f} area under the ROC curve")
    low, high = found.thresholds
    lines.append(f"Bands (ham up to {low:g}, spam from {high:g}):")
    for name, (ham, spam) in found.bands().items():
        lines.append(f"  {name:<6} {ham:6,} ham {spam:6,} spam")
    wrong = found.most_wrong(3)
    if wrong:
        lines.append("Most wrong:")
        lines += [f"  {p:.4f}  {truth}  {name}" for name, truth, p in wrong]
    return "\n".join(lines)
