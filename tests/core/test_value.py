"""Value classes: frozen, slotted, compared by value."""

from __future__ import annotations

import copy
import pickle

import pytest

from stagec.core.value import replace, value


@value
class Point:
    x: int
    y: int = 0
    names: tuple[str, ...] = ()

    @property
    def sum(self) -> int:
        return self.x + self.y


def test_fields_are_set_by_position_name_and_default() -> None:
    assert (Point(1).y, Point(1, 2).y, Point(x=3, names=("a",)).names) == (0, 2, ("a",))


def test_a_missing_field_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="Missing required argument 'x'"):
        Point()  # type: ignore[call-arg]


def test_equal_fields_make_equal_values_with_equal_hashes() -> None:
    assert Point(1, 2) == Point(1, 2)
    assert hash(Point(1, 2)) == hash(Point(1, 2))
    assert Point(1, 2) != Point(2, 1)


def test_values_of_different_classes_are_never_equal() -> None:
    @value
    class Other:
        x: int
        y: int = 0
        names: tuple[str, ...] = ()

    assert Point(1) != Other(1)


def test_a_value_cannot_be_changed() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="immutable"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        del point.x  # type: ignore[misc]


def test_a_value_has_no_room_for_other_attributes() -> None:
    assert not hasattr(Point(1), "__dict__")


def test_replace_changes_a_copy() -> None:
    point = Point(1, 2)
    assert (replace(point, y=5), point) == (Point(1, 5), Point(1, 2))


def test_a_field_may_have_any_name() -> None:
    @value
    class Named:
        self: int = 0
        given: int = 0
        cls: int = 0

    assert replace(replace(Named(cls=1), self=2), given=3) == Named(2, 3, 1)


def test_values_survive_copying_and_pickling_and_can_be_matched() -> None:
    point = Point(1, 2, ("a",))
    assert copy.deepcopy(point) == point
    assert pickle.loads(pickle.dumps(point)) == point
    match point:
        case Point(x, y, names):
            assert (x, y, names) == (1, 2, ("a",))


def test_properties_and_repr_work() -> None:
    assert Point(1, 2).sum == 3
    assert repr(Point(1)) == "Point(x=1, y=0, names=())"
