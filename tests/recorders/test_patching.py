"""What is replaced in a framework is as before afterwards."""

from __future__ import annotations

from laptime.recorders.patching import Patches


class Base:
    def value(self) -> int:
        return 1


class Derived(Base):
    pass


def test_members_are_replaced_and_put_back() -> None:
    before, patches = vars(Base)["value"], Patches()
    patches.replace(Base, "value", lambda old: lambda self: 10 * old(self))  # type: ignore[operator]  # a function
    patches.replace(Base, "value", lambda old: lambda self: old(self) + 5)  # type: ignore[operator]  # a function
    assert Base().value() == 15
    patches.undo()
    assert vars(Base)["value"] is before


def test_an_inherited_member_is_the_base_classs_again() -> None:
    patches = Patches()
    patches.replace(Derived, "value", lambda old: lambda self: 2)
    assert (Derived().value(), Base().value()) == (2, 1)
    patches.undo()
    assert Derived().value() == 1 and "value" not in vars(Derived)


def test_what_someone_else_has_put_there_since_stays() -> None:
    before, patches = vars(Base)["value"], Patches()
    patches.replace(Base, "value", lambda old: lambda self: 2)
    Base.value = lambda self: 3  # type: ignore[method-assign]  # as another tool would
    try:
        patches.undo()
        assert Base().value() == 3
    finally:
        Base.value = before  # type: ignore[method-assign]  # for the other tests
