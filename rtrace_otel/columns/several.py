"""Tables of several files as one. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

FILE: Final = pa.field("file", pa.string(), metadata={"meaning": "The file, as it was named."})


def joined(files: Sequence[str], tables: Sequence[Any]) -> Any:
    """One table (``pyarrow.Table``) of several with the same columns, behind a column ``file``.

    Args:
        files: Names of the files.
        tables: Of each file, in the same order.
    """
    return pa.concat_tables(
        [
            table.add_column(0, FILE, pa.array([file] * table.num_rows, pa.string()))
            for file, table in zip(files, tables, strict=True)
        ]
    )
