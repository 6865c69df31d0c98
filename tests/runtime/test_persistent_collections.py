"""Tables hold what dictionaries would, and every version of one stays as it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stagec.runtime.machine.state import Table

CHANGES = st.lists(st.tuples(st.integers(0, 60).map(str), st.integers()), max_size=200)


@given(CHANGES)
def test_a_table_holds_what_a_dictionary_holds_in_the_same_order(changes: list[tuple[str, int]]) -> None:
    table: Table[str, int] = Table()
    same: dict[str, int] = {}
    for name, entry in changes:
        table, same[name] = table.having(name, entry), entry
    assert (list(table.items()), len(table), repr(table)) == (list(same.items()), len(same), repr(same))
    assert table == same
    assert table.get("none") is None


@given(CHANGES)
def test_every_version_stays_as_it_is(changes: list[tuple[str, int]]) -> None:
    versions: list[tuple[Table[int], dict[str, int]]] = [(Table(), {})]
    for name, entry in changes:
        table, same = versions[-1]
        versions.append((table.having(name, entry), {**same, name: entry}))
    assert [list(table.items()) for table, _ in versions] == [list(same.items()) for _, same in versions]


def test_tables_of_the_same_entries_are_equal_however_they_came_about() -> None:
    grown: Table[str, int] = Table()
    for number in range(100):
        grown = grown.having(str(number), 0).having(str(number), number)
    assert grown == Table({str(number): number for number in range(100)})
    assert grown != grown.having("7", 8)
