"""Methods are data; the data says the truth about its order."""

import pytest

from kinpair.simulation.methods.tableaux import TABLEAUX
from rooted_trees import defect, density, trees

ROUNDING = 1e-14
TREES = (1, 1, 2, 4, 9, 20, 48, 115, 286)  # rooted trees of 1, 2, ... nodes (OEIS A000081)


def test_every_tree_is_found_once():
    for order, count in enumerate(TREES[:8], start=1):
        result = list(trees(order))
        assert len(result) == len(set(result)) == count


def test_density_of_a_tall_tree_is_a_factorial_and_of_a_bush_its_size():
    tall, bush = ((((),),),), ((), (), ())
    assert (density(tall), density(bush)) == (24, 4)


@pytest.mark.parametrize("tableau", TABLEAUX.values(), ids=lambda t: t.name)
def test_a_method_meets_the_conditions_of_its_order_and_not_of_the_next(tableau):
    for order in range(1, tableau.order + 1):
        assert defect(tableau, order) < ROUNDING
    assert defect(tableau, tableau.order + 1) > 1e-6
