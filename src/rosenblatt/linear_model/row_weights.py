"""What each row of a classification counts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import _check_sample_weight


def row_weights(
    classes: NDArray[Any], codes: NDArray[np.intp], sample_weight: Any, class_weight: Any
) -> NDArray[np.float64]:
    """Sample weight times class weight, each row (n,)."""
    weight = _check_sample_weight(
        sample_weight, np.empty((len(codes), 0)), dtype=np.float64, ensure_non_negative=True
    )
    if class_weight is not None:
        by_class = compute_class_weight(
            class_weight, classes=classes, y=classes[codes], sample_weight=weight
        )
        if by_class.min() < 0:
            k = int(by_class.argmin())
            raise ValueError(
                f"class_weight must not be negative; class {classes.tolist()[k]!r} has "
                f"{by_class[k]:g}."
            )
        weight = weight * by_class[codes]
    if not weight.sum() > 0:
        raise ValueError(
            "sample_weight and class_weight must give some row a positive weight; all are 0."
        )
    return np.asarray(weight)
