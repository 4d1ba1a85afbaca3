"""From counts to a probability: the models that need nothing but sums over messages.

Each gives every token a weight; the weights that a message holds are its evidence, highest first in
`explain`. A token that was never seen is looked up in plainer forms (`tokens.plainer`).

- `chi-square`: each token has a probability f(w) of spam, drawn towards a prior (Robinson); two
  tests after Fisher ask how unlikely so many small f and so many small 1 - f are. If both are
  unlikely the message has evidence for either side, and the answer is near one half: unsure.
- `multinomial`, `bernoulli`, `complement`: naive Bayes, whose weights add up to the log-odds.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from .store import HAM, SPAM, Store, TokenCounts, Totals
from .tokens import plainer

# s and x of Robinson's f(w) are the published ones of an established filter (bogofilter). Tokens
# depend on each other, so that a share of them counts, its "effective size factor". This share, and
# how far from one half a token must be to count, were chosen on held-out messages: docs/spam.md.
STRENGTH, PRIOR = 0.0178, 0.52
LEAST_DEVIATION, EFFECTIVE_SHARE = 0.25, 0.1
SMOOTHING = 0.01  # of naive Bayes; added to every count
FEWEST_MESSAGES = 10  # of each class before the filter is as confident as its counts
NO_EVIDENCE = 0.5


class Evidence(NamedTuple):
    """One token of a message and the log-odds that it adds for spam."""

    token: str
    weight: float
    counted_as: str  # the plainer form that was looked up, or the token itself
    counts: TokenCounts


class Verdict(NamedTuple):
    """The probability of spam, with the evidence for it, strongest first."""

    probability: float
    evidence: list[Evidence]
    log_odds: float  # what the weights add up to, with `prior`
    prior: float


def robinson(totals: Totals) -> Callable[[TokenCounts], float]:
    """Weights log f - log(1 - f) of tokens; zero for those too close to one half to count.

    p(w) = share of spam among messages that contain w, as if ham and spam were equally many;
    f(w) = (s x + n p(w)) / (s + n) for n messages that contain w.
    """
    n_ham, n_spam = (max(n, 1) for n in totals.messages)

    def weight(counts: TokenCounts) -> float:
        ham, spam = counts[HAM] / n_ham, counts[SPAM] / n_spam
        n = counts[HAM] + counts[SPAM]
        p = spam / (ham + spam) if n else PRIOR
        f = (STRENGTH * PRIOR + n * p) / (STRENGTH + n)
        return math.log(f / (1 - f)) if abs(f - 0.5) >= LEAST_DEVIATION else 0.0

    return weight


def multinomial(totals: Totals) -> Callable[[TokenCounts], float]:
    """log P(w | spam) - log P(w | ham), from how many messages of each class hold w."""
    return _smoothed(totals.presences, totals.n_tokens, HAM, SPAM)


def _smoothed(
    sums: tuple[int, int], n_tokens: int, ham: int, spam: int
) -> Callable[[TokenCounts], float]:
    """The difference of smoothed log shares, from the counts at two places of `TokenCounts`."""
    added = SMOOTHING * max(n_tokens, 1)
    offset = math.log((sums[HAM] + added) / (sums[SPAM] + added))

    def weight(counts: TokenCounts) -> float:
        return math.log((counts[spam] + SMOOTHING) / (counts[ham] + SMOOTHING)) + offset

    return weight


def complement(totals: Totals) -> Callable[[TokenCounts], float]:
    """As `multinomial`, from occurrences: each class is judged by the counts of the other.

    With two classes the complement of spam is ham, so the weight is the same difference; what
    differs is that repeated words count each time.
    """
    return _smoothed(totals.occurrences, totals.n_tokens, 2 + HAM, 2 + SPAM)


def bernoulli(totals: Totals) -> Callable[[TokenCounts], float]:
    """What the presence of w adds to its absence: the difference of its log-odds in each class."""
    n_ham, n_spam = totals.messages

    def weight(counts: TokenCounts) -> float:
        ham = (counts[HAM] + SMOOTHING) / (n_ham - counts[HAM] + SMOOTHING)
        spam = (counts[SPAM] + SMOOTHING) / (n_spam - counts[SPAM] + SMOOTHING)
        return math.log(spam / ham)

    return weight


COUNTING = {
    "chi-square": robinson,
    "multinomial": multinomial,
    "bernoulli": bernoulli,
    "complement": complement,
}
DEFAULT = "chi-square"


class CountingModel:
    """A model that follows from the counts of a store.

    `all_tokens` reads every count at once, which pays from about fifty messages on.
    """

    def __init__(self, store: Store, name: str = DEFAULT, *, all_tokens: bool = False) -> None:
        self.store, self.name = store, name
        self.totals = store.totals()
        self.weight = COUNTING[name](self.totals)
        self._counts: dict[str, TokenCounts] = store.all_counts() if all_tokens else {}
        self._all_tokens = all_tokens
        self._found: dict[str, tuple[str, float]] = {}  # what each token counts as, and its weight
        self.prior = self._prior()

    def _prior(self) -> float:
        """The log-odds of a message without tokens."""
        n_ham, n_spam = self.totals.messages
        if self.name == "chi-square":
            return 0.0
        prior = math.log((n_spam + 1) / (n_ham + 1))
        if self.name == "bernoulli":  # every token is absent
            counts = self._counts if self._all_tokens else self.store.all_counts()
            prior += sum(
                math.log((n_spam - c[SPAM] + SMOOTHING) / (n_spam + 2 * SMOOTHING))
                - math.log((n_ham - c[HAM] + SMOOTHING) / (n_ham + 2 * SMOOTHING))
                for c in counts.values()
            )
        return prior

    def probability(self, tokens: Mapping[str, int]) -> float:
        """The probability that a message with these tokens is spam."""
        self._look_up(tokens)
        found = self._found
        if self.name == "complement":
            weights = [found[token][1] * n for token, n in tokens.items()]
        else:
            weights = [found[token][1] for token in tokens]
        return self.shrunk_to_half(self._combined(weights))

    def verdict(self, tokens: Mapping[str, int]) -> Verdict:
        """The probability with its evidence."""
        probability = self.probability(tokens)
        evidence = []
        for token, n in tokens.items():
            form, weight = self._found[token]
            if weight:
                times = n if self.name == "complement" else 1
                evidence.append(Evidence(token, weight * times, form, self._counts[form]))
        evidence.sort(key=lambda e: -abs(e.weight))
        log_odds = self.prior + math.fsum(e.weight for e in evidence)
        return Verdict(probability, evidence, log_odds, self.prior)

    def _look_up(self, tokens: Mapping[str, int]) -> None:
        """Find what each token counts as, and its weight."""
        found = self._found
        new = [token for token in tokens if token not in found]
        if not new:
            return
        if not self._all_tokens:
            self._fetch(new)
            unseen = [token for token in new if token not in self._counts]
            self._fetch({form for token in unseen for form in plainer(token)})
        for token in new:
            form = token
            if token not in self._counts:
                form = next((form for form in plainer(token) if form in self._counts), "")
            self._found[token] = (form, self.weight(self._counts[form]) if form else 0.0)

    def _fetch(self, tokens: Iterable[str]) -> None:
        self._counts.update(self.store.counts(t for t in tokens if t not in self._counts))

    def _combined(self, weights: list[float]) -> float:
        if self.name == "chi-square":
            return chi_square([weight for weight in weights if weight])
        return logistic(self.prior + math.fsum(weights))

    def shrunk_to_half(self, probability: float) -> float:
        """Draw the answer towards one half as long as there was little to learn from."""
        trained = min(min(self.totals.messages) / FEWEST_MESSAGES, 1.0)
        return 0.5 + trained * (probability - 0.5)


def chi_square(weights: list[float]) -> float:
    """Combine weights log f - log(1 - f) by Fisher's method, from either side.

    >>> chi_square([4.0] * 20) > 0.99, chi_square([4.0] * 10 + [-4.0] * 10)
    (True, 0.5)
    """
    return fisher(math.fsum(map(surprise, weights)), math.fsum(weights), len(weights))


@lru_cache(1 << 16)  # many tokens have the same counts
def surprise(weight: float) -> float:
    """-log f of a token with the weight log f - log(1 - f)."""
    return math.log1p(math.exp(-weight)) if weight > -700 else -weight


def fisher(for_spam: float, weight: float, n: int) -> float:
    """The answer (1 + H - S) / 2 from n tokens, the sum of -log f and the sum of their weights.

    H = P(chi2 > -2 c sum log f), S = P(chi2 > -2 c sum log(1 - f)), both with 2 c n degrees of
    freedom, where c is the share of tokens that count as independent.
    """
    if n == 0:
        return NO_EVIDENCE
    c = EFFECTIVE_SHARE
    return (
        1 + chi_square_tail(c * for_spam, c * n) - chi_square_tail(c * (for_spam + weight), c * n)
    ) / 2


def chi_square_tail(x: float, a: float) -> float:
    """P(chi2 with 2 a degrees of freedom > 2 x): the incomplete gamma function, from above.

    By its series below the mean and by its continued fraction (Lentz) beyond.

    >>> round(chi_square_tail(3.0, 2), 6), chi_square_tail(5000.0, 10)
    (0.199148, 0.0)
    """
    if x <= 0:
        return 1.0
    scale = a * math.log(x) - x - math.lgamma(a)
    if scale < -745:  # exp would vanish
        return 1.0 if x < a else 0.0
    if x < a + 1:
        term = total = 1 / a
        k = a
        while term > 1e-17 * total:
            k += 1
            term *= x / k
            total += term
        return 1.0 - min(math.exp(scale) * total, 1.0)
    b = x + 1 - a
    c, d = 1e300, 1 / b
    fraction, i, factor = d, 0, 2.0
    while abs(factor - 1) > 1e-16:
        i += 1
        b += 2
        d = 1 / (i * (a - i) * d + b)
        c = b + i * (a - i) / c
        factor = c * d
        fraction *= factor
    return min(math.exp(scale) * fraction, 1.0)


def logistic(log_odds: float) -> float:
    """1 / (1 + exp(-log_odds)), for any log-odds."""
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1 + odds)
