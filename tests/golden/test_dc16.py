"""DC16, Q3: heights of the four linkages on 0, 1, 3, 7."""

import numpy as np
import pytest

from rosenblatt import AgglomerativeClustering

# 0 and 1 join at 1. Then {0, 1} and 3: nearest 2, farthest 3, mean (3 + 2) / 2 = 2.5;
# Ward sqrt(2 * 2 * 1 / 3) * |0.5 - 3| = 1.154701 * 2.5 = 2.886751.
# Then {0, 1, 3} and 7: nearest 4, farthest 7, mean (7 + 6 + 4) / 3 = 5.666667;
# Ward sqrt(2 * 3 * 1 / 4) * |4/3 - 7| = 1.224745 * 5.666667 = 6.940221.
HEIGHTS = {
    "single": (1, 2, 4),
    "complete": (1, 3, 7),
    "average": (1, 2.5, 5.666667),
    "ward": (1, 2.886751, 6.940221),
}


@pytest.mark.parametrize("linkage", HEIGHTS)
def test_heights_and_order_of_the_joins(linkage):
    model = AgglomerativeClustering(linkage=linkage).fit([[0.0], [1.0], [3.0], [7.0]])
    np.testing.assert_allclose(model.linkage_matrix_[:, 2], HEIGHTS[linkage], atol=5e-7)
    assert np.sort(model.children_).tolist() == [[0, 1], [2, 4], [3, 5]]
