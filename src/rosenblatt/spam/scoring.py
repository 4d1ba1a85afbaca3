"""Models that compute the probability of spam from counts of tokens.

Each gives every token a weight; the weights of the tokens of a message are its evidence. Unknown
tokens are looked up in plainer forms (`tokens.plainer`).

- `chi-square`: each token has a probability f(w) of spam, shrunk towards a prior (Robinson).
  Fisher's method combines all f, and all 1 - f. If both combinations are unlikely, the message has
  evidence for both sides, and the answer is near one half: unsure.
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


Pair = tuple[int, int]  # of ham, of spam
Weight = Callable[[TokenCounts], float]


class Evidence(NamedTuple):
    """One token of a message and its weight, in log-odds of spam."""

    token: str
    weight: float
    counted_as: str  # the plainer form that was looked up, or the token itself
    counts: TokenCounts


class Verdict(NamedTuple):
    """The probability of spam with its evidence, the largest weights first."""

    probability: float
    evidence: list[Evidence]
    log_odds: float  # sum of the weights and `prior`
    prior: float


def robinson(n_messages: Pair, totals: Totals) -> Weight:
    """Weigh tokens by log f - log(1 - f), and those close to f = 1/2 by zero.

    p(w) = share of spam among messages that contain w, as if ham and spam were equally many;
    f(w) = (s x + n p(w)) / (s + n) for n messages that contain w.
    """
    n_ham, n_spam = (max(n, 1) for n in n_messages)

    def weight(counts: TokenCounts) -> float:
        ham, spam = counts[HAM] / n_ham, counts[SPAM] / n_spam
        n = counts[HAM] + counts[SPAM]
        p = spam / (ham + spam) if n else PRIOR
        f = (STRENGTH * PRIOR + n * p) / (STRENGTH + n)
        return math.log(f / (1 - f)) if abs(f - 0.5) >= LEAST_DEVIATION else 0.0

    return weight


def multinomial(n_messages: Pair, totals: Totals) -> Weight:
    """Weigh tokens by log P(w | spam) - log P(w | ham), from messages that contain w."""
    return _smoothed(totals.presences, totals.n_tokens, HAM, SPAM)


def _smoothed(sums: Pair, n_tokens: int, ham: int, spam: int) -> Weight:
    """Return the difference of smoothed log shares, from the counts at two places."""
    added = SMOOTHING * max(n_tokens, 1)
    offset = math.log((sums[HAM] + added) / (sums[SPAM] + added))

    def weight(counts: TokenCounts) -> float:
        return math.log((counts[spam] + SMOOTHING) / (counts[ham] + SMOOTHING)) + offset

    return weight


def complement(n_messages: Pair, totals: Totals) -> Weight:
    """Weigh tokens as `multinomial` does, from occurrences: repeated tokens count each time.

    With two classes the complement of spam is ham, so the weight is the same difference.
    """
    return _smoothed(totals.occurrences, totals.n_tokens, 2 + HAM, 2 + SPAM)


def bernoulli(n_messages: Pair, totals: Totals) -> Weight:
    """Weigh tokens by the difference of the log-odds of their presence in each class."""
    n_ham, n_spam = n_messages

    def weight(counts: TokenCounts) -> float:
        # Another process may have learned messages since they were counted.
        ham = (counts[HAM] + SMOOTHING) / (max(n_ham - counts[HAM], 0) + SMOOTHING)
        spam = (counts[SPAM] + SMOOTHING) / (max(n_spam - counts[SPAM], 0) + SMOOTHING)
        return math.log(spam / ham)

    return weight


COUNTING = {
    "chi-square": robinson,
    "multinomial": multinomial,
    "bernoulli": bernoulli,
    "complement": complement,
}
DEFAULT = "chi-square"
NO_TOTALS = Totals((0, 0), (0, 0), 0)


class CountingModel:
    """A model that follows from the counts of a store.

    `all_tokens` reads every count at once, which pays from about fifty messages on.
    """

    def __init__(self, store: Store, name: str = DEFAULT, *, all_tokens: bool = False) -> None:
        self.store, self.name = store, name
        self.counts_repeats = name == "complement"
        self._all_tokens = all_tokens
        with store.snapshot():
            self.revision, self.n_messages = store.revision(), store.n_messages()
            totals = NO_TOTALS if name == "chi-square" else store.totals()
            self._counts: dict[str, TokenCounts] = store.all_counts() if all_tokens else {}
            self.prior = self._prior()
        # Many tokens have the same counts.
        self._weight = lru_cache(1 << 16)(COUNTING[name](self.n_messages, totals))

    def _prior(self) -> float:
        """Return the log-odds of a message without tokens."""
        n_ham, n_spam = self.n_messages
        if self.name == "chi-square":
            return 0.0
        prior = math.log((n_spam + 1) / (n_ham + 1))
        if self.name == "bernoulli":  # every token is absent
            counts = self._counts if self._all_tokens else self.store.all_counts()
            prior += sum(
                math.log((max(n_spam - c[SPAM], 0) + SMOOTHING) / (n_spam + 2 * SMOOTHING))
                - math.log((max(n_ham - c[HAM], 0) + SMOOTHING) / (n_ham + 2 * SMOOTHING))
                for c in counts.values()
            )
        return prior

    def probability(self, tokens: Mapping[str, int]) -> float:
        """Return the probability that a message with these tokens is spam."""
        weights = self.weights_of(tokens)
        if self.counts_repeats:
            weights = [weight * n for weight, n in zip(weights, tokens.values(), strict=True)]
        return self.combined(weights)

    def verdict(self, tokens: Mapping[str, int]) -> Verdict:
        """Return the probability with its evidence."""
        probability = self.probability(tokens)
        evidence = []
        for token, weight in zip(tokens, self.weights_of(tokens), strict=True):
            if weight:
                form, times = self._form(token), tokens[token] if self.counts_repeats else 1
                evidence.append(Evidence(token, weight * times, form, self._counts[form]))
        evidence.sort(key=lambda e: -abs(e.weight))
        log_odds = self.prior + math.fsum(e.weight for e in evidence)
        return Verdict(probability, evidence, log_odds, self.prior)

    def weights_of(self, tokens: Iterable[str]) -> list[float]:
        """Return the weight of each token, zero if neither it nor a plainer form was learned."""
        if not self._all_tokens:
            self._fetch(tokens)
            unseen = [token for token in tokens if token not in self._counts]
            self._fetch({form for token in unseen for form in plainer(token)})
        forms = map(self._form, tokens)
        return [self._weight(self._counts[form]) if form else 0.0 for form in forms]

    def _form(self, token: str) -> str:
        """Return the token, or its nearest plainer form that was learned; "" without one."""
        counts = self._counts
        if token in counts:
            return token
        return next((form for form in plainer(token) if form in counts), "")

    def _fetch(self, tokens: Iterable[str]) -> None:
        self._counts.update(self.store.counts(t for t in tokens if t not in self._counts))

    def combined(self, weights: list[float]) -> float:
        """Return the probability of spam from the weights of the tokens of a message."""
        if self.name == "chi-square":
            probability = chi_square([weight for weight in weights if weight])
        else:
            probability = logistic(self.prior + math.fsum(weights))
        # Draw the answer towards one half if few messages were learned.
        trained = min(min(self.n_messages) / FEWEST_MESSAGES, 1.0)
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
