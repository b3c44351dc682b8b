"""Long tables of operators asked for last, kept whole: what is scrolled through is cut out of them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from laptime.analyses.operators import OperatorTable

_LONG = 5000
"""Rows; shorter tables are computed as soon as they are found."""
_MOST_TABLES = 4
"""A row takes about a kilobyte; the same rows in another order take little more."""


class LongTables:
    """The last used ones."""

    def __init__(self) -> None:
        self._tables: OrderedDict[Hashable, OperatorTable] = OrderedDict()
        self._lock = threading.Lock()

    def table(self, asked: Hashable, compute: Callable[[], OperatorTable]) -> OperatorTable:
        """The table of what was asked, computed where it is not here."""
        with self._lock:
            if asked in self._tables:
                self._tables.move_to_end(asked)
                return self._tables[asked]
        table = compute()
        if len(table.rows) > _LONG:
            with self._lock:
                self._tables[asked] = table
                while len(self._tables) > _MOST_TABLES:
                    self._tables.popitem(last=False)
        return table
