"""Recorders: one Profiler for all frameworks. Standard library only; frameworks are imported late, if at all."""

from __future__ import annotations

from laptime.recorders.decorator import profile
from laptime.recorders.profiler import Profiler
from laptime.recorders.schedules import Schedule, schedule
from laptime.recorders.scopes import scope

__all__ = ["Profiler", "Schedule", "profile", "schedule", "scope"]
