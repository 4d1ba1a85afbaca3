"""GC02, E2, W8: a coin that fell heads seven times in ten."""

from rosenblatt.estimation import bernoulli_mle, binomial_mle


def test_the_most_likely_coin_has_the_share_seen():
    assert bernoulli_mle([1] * 7 + [0] * 3) == 0.7
    assert binomial_mle(7, 10) == 0.7
