"""GC25, C9: monomials of degree 6 in 100 columns."""

from rosenblatt import BasisExpansion


def test_of_exactly_that_degree():
    assert BasisExpansion(degree=(6, 6)).count(100) == 1_609_344_100


def test_up_to_that_degree_with_the_constant():
    assert BasisExpansion(degree=6, include_bias=True).count(100) == 1_705_904_746
