"""Types of numpy columns."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Column: TypeAlias = np.ndarray[Any, Any]  # numpy's types cannot say "some numbers" and still allow arithmetic
IntArray: TypeAlias = npt.NDArray[np.int64]
CodeArray: TypeAlias = npt.NDArray[np.int32]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
