"""Many models at once: forests of random trees, bagging and boosting of any model."""

from typing import TYPE_CHECKING

import lazy_loader  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from .adaboost import AdaBoostClassifier as AdaBoostClassifier
    from .bagging import BaggingClassifier as BaggingClassifier
    from .bagging import BaggingRegressor as BaggingRegressor
    from .extra_trees import ExtraTreesClassifier as ExtraTreesClassifier
    from .extra_trees import ExtraTreesRegressor as ExtraTreesRegressor
    from .forest import RandomForestClassifier as RandomForestClassifier
    from .forest import RandomForestRegressor as RandomForestRegressor
    from .hist_gradient_boosting import (
        HistGradientBoostingClassifier as HistGradientBoostingClassifier,
    )
    from .hist_gradient_boosting import (
        HistGradientBoostingRegressor as HistGradientBoostingRegressor,
    )
    from .voting import VotingClassifier as VotingClassifier

# Imported when asked for: a forest read from a file needs none of the others.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "adaboost": ["AdaBoostClassifier"],
        "bagging": ["BaggingClassifier", "BaggingRegressor"],
        "extra_trees": ["ExtraTreesClassifier", "ExtraTreesRegressor"],
        "forest": ["RandomForestClassifier", "RandomForestRegressor"],
        "hist_gradient_boosting": [
            "HistGradientBoostingClassifier",
            "HistGradientBoostingRegressor",
        ],
        "voting": ["VotingClassifier"],
    },
)
