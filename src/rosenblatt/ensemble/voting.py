"""Voting: scikit-learn's, under its name."""

from typing import Any, Self

from sklearn import ensemble

from rosenblatt.registry.row import Row


class VotingClassifier(ensemble.VotingClassifier):  # type: ignore[misc]
    """Different models on the same rows: the mean of their probabilities, or their votes, decide.

    A vote is right where most members are, so members that err on different rows mend each
    other's mistakes [1]_. It is scikit-learn's class; `compare` tries a soft vote of its best
    families.

    Parameters
    ----------
    estimators : list of (name, classifier)
        The members; ``"drop"`` in the place of one leaves it out.
    voting : {"hard", "soft"}
        Whether each member has one vote, or its probabilities are averaged.
    weights : array-like of shape (members,) or None
        What each member counts; None for the same.
    n_jobs, flatten_transform, verbose : as in scikit-learn.

    Attributes
    ----------
    estimators_, named_estimators_ : the fitted members.
    le_, classes_ : the encoder of the labels, and the labels.
    n_features_in_, feature_names_in_ : of the data.

    Examples
    --------
    >>> from rosenblatt import DecisionTreeClassifier, GaussianNB, VotingClassifier
    >>> X, y = [[0, 1], [1, 0], [2, 3], [3, 2]], ["ham", "ham", "spam", "spam"]
    >>> members = [("tree", DecisionTreeClassifier()), ("Bayes", GaussianNB())]
    >>> VotingClassifier(members, voting="soft").fit(X, y).predict([[0, 0], [3, 3]])
    array(['ham', 'spam'], dtype='<U4')

    References
    ----------
    .. [1] T. G. Dietterich (2000), Ensemble methods in machine learning. *Multiple Classifier
       Systems*.
    """

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        **fit_params : Any
            For the members, such as `sample_weight`.
        """
        if self.voting == "soft":
            for name, member in self.estimators:
                if not isinstance(member, str) and not hasattr(member, "predict_proba"):
                    raise ValueError(
                        f"voting='soft' averages probabilities, and {name!r}, a "
                        f"{type(member).__name__}, gives none: leave it out, or take voting='hard'."
                    )
        super().fit(X, y, **fit_params)
        return self


ROW = Row(
    "VotingClassifier",
    page="boosting.md",
    contract=None,
    warm=None,
    peer_tests=("ensemble/tests/test_voting.py",),
)
