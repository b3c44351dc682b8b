"""Whether an answer has the form that the document promises: every key of its type and no other, every value's type."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from typing_extensions import NotRequired, is_typeddict


def fault_of(value: Any, form: Any, at: str = "$") -> str | None:
    """What does not fit and where; None where all does."""
    origin, parts = get_origin(form), get_args(form)
    if origin is NotRequired:
        return fault_of(value, parts[0], at)
    if is_typeddict(form):
        return _fault_of_object(value, form, at)
    if origin in (Union, types.UnionType):
        faults = [fault_of(value, each, at) for each in parts]
        return None if None in faults else "; or ".join(str(fault) for fault in faults)
    if origin is Literal:
        return None if value in parts else f"{at} is {value!r}, none of {parts}"
    if origin is list:
        if type(value) is not list:
            return f"{at} is {value!r}, no list"
        return next((fault for i, each in enumerate(value) if (fault := fault_of(each, parts[0], f"{at}[{i}]"))), None)
    if origin is dict:
        if type(value) is not dict:
            return f"{at} is {value!r}, no object"
        return next((fault for key, each in value.items() if (fault := fault_of(each, parts[1], f"{at}.{key}"))), None)
    if form in (object, Any):
        return None
    wanted = type(None) if form is None else form
    return None if type(value) is wanted else f"{at} is {value!r}, no {wanted.__name__}"


def _fault_of_object(value: Any, form: Any, at: str) -> str | None:
    hints = get_type_hints(form, include_extras=True)
    optional = {key for key, hint in hints.items() if get_origin(hint) is NotRequired}
    if type(value) is not dict:
        return f"{at} is {value!r}, no object"
    missing, other = hints.keys() - optional - value.keys(), value.keys() - hints.keys()
    if missing or other:
        return f"{at} lacks {sorted(missing)}, has {sorted(other)} besides"
    return next((fault for key, each in value.items() if (fault := fault_of(each, hints[key], f"{at}.{key}"))), None)
