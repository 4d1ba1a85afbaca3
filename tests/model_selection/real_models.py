"""The models that users have, in settings that all follow from one read of the rows."""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    Standardizer,
)

REAL_MODELS = {
    "GaussianNB": GaussianNB(),
    "GaussianNB, shared": GaussianNB(variance="feature", missing="ignore"),
    "BernoulliNB": BernoulliNB(binarize=3),
    "BernoulliNB, gaps": BernoulliNB(binarize=3, missing="ignore"),
    "MultinomialNB": MultinomialNB(),
    "MultinomialNB, gaps": MultinomialNB(alpha=0.5, missing="ignore"),
    "ComplementNB": ComplementNB(norm=True),
    "CategoricalNB": CategoricalNB(unknown="smooth", missing="ignore"),
    "MixedNB": MixedNB(),
    "MixedNB, kinds": MixedNB(kinds=["numeric", "categorical", "density", "density"]),
    "LDA": LinearDiscriminantAnalysis(),
    "LDA, shrunk": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2),
    "QDA": QuadraticDiscriminantAnalysis(reg_param=0.1),
    "least squares": LeastSquaresClassifier(),
    "scaled GaussianNB": make_pipeline(StandardScaler(), GaussianNB()),
    "standardized LDA": make_pipeline(Standardizer(), LinearDiscriminantAnalysis()),
}
