"""Rules on traces of a few events, beside what they must find."""

from __future__ import annotations

from typing import Any

from tests.advice.conftest import Advise
from tests.analyses.events import US, Event, data, host, kernel, launch, op, step, sync

Json = dict[str, Any]


def _one(findings: list[Json], rule: str) -> Json:
    (found,) = [finding for finding in findings if finding["rule"] == rule]
    return found


def _rules(findings: list[Json]) -> set[str]:
    return {finding["rule"] for finding in findings}


def _busy(number: int, start: int, end: int) -> list[Event]:
    """A step in which the device works all the time, launched ahead."""
    return [step(number, start, end), launch(number, start + 1), kernel(number, start, end)]


def test_a_busy_device_has_no_finding(advise_events: Advise) -> None:
    events = [event for number in range(1, 5) for event in _busy(number, 100 * number, 100 * number + 100)]
    assert advise_events(*events) == []


def test_waiting_for_data(advise_events: Advise) -> None:
    """Two steps of 100 us: the loader takes 30 us of each before the kernel can be launched."""
    events = []
    for number in (1, 2):
        at = 100 * number
        events += [step(number, at, at + 100), data(at, at + 30), launch(number, at + 30)]
        events.append(kernel(number, at + 30, at + 100))
    (found,) = advise_events(*events)
    assert (found["rule"], found["cause"], found["severity"]) == ("data_wait", "data_loading", "high")
    assert (found["saving_ns_per_step"], found["saving_share"]) == (30 * US, 0.3)
    assert found["budget_parts"] == ["idle_data_wait_ns"]
    assert found["confidence"] == "medium"  # two steps are few
    assert found["fix"].startswith("Give the DataLoader num_workers of 2 or more")
    assert len(found["slices"]) == 2


def _late_steps(gap: int) -> list[Event]:
    """Four steps of 1000 us with 40 kernels of 15 us each; each is launched `gap` us after the one before has ended."""
    events: list[Event] = []
    number = 0
    for at in range(1000, 5000, 1000):
        events.append(step(at // 1000, at, at + 1000))
        time = at
        for _ in range(40):
            number += 1
            events += [launch(number, time), kernel(number, time + 2, time + 17)]
            time += 17 + gap
    return events


def test_small_kernels_wait_for_their_launches(advise_events: Advise) -> None:
    found = _one(advise_events(*_late_steps(8)), "launch_bound")
    assert found["cause"] == "launch_bound"
    # 39 gaps of 10 us between the kernels of a step; the next step's first kernel ends the last one, 2 us of it inside
    evidence = {each["name"]: each["value"] for each in found["evidence"]}
    assert evidence["median kernel"] == 15 * US
    assert evidence["median time between launches"] == 25 * US
    assert evidence["pieces of device work per step"] == 40
    assert 390 * US <= found["saving_ns_per_step"] <= 410 * US


def test_a_pause_of_the_host_is_told_apart(advise_events: Advise) -> None:
    """In each step the host sorts for 300 us between the 20th and the 21st of 40 kernels."""
    events: list[Event] = []
    number = 0
    for at in range(1000, 5000, 1000):
        events.append(step(at // 1000, at, at + 1000))
        time = at
        for place in range(40):
            if place == 20:
                events.append(op("aten::sort", time, time + 300))
                time += 300
            number += 1
            events += [launch(number, time), kernel(number, time + 2, time + 17)]
            time += 17
    found = _one(advise_events(*events), "host_busy")
    assert "aten::sort" in found["title"]
    assert found["saving_ns_per_step"] >= 300 * US
    assert found["budget_parts"] == ["idle_launch_ns"]


def _synchronising(wait: int, pause: int) -> list[Event]:
    """Three steps of 200 us: a kernel, a wait for its last `wait` us, `pause` us of nothing, another kernel."""
    events = []
    for number in (1, 2, 3):
        at = 200 * number
        ends = at + 20 + wait
        events += [
            step(number, at, at + 200),
            launch(2 * number, at),
            kernel(2 * number, at, ends),
            sync(at + 20, ends),
            launch(2 * number + 1, ends + pause),
            kernel(2 * number + 1, ends + pause, at + 200),
        ]
    return events


def test_a_wait_costs_what_the_device_idles_after_it(advise_events: Advise) -> None:
    found = _one(advise_events(*_synchronising(60, 30)), "host_sync")
    assert (found["saving_ns_per_step"], found["cause"], found["severity"]) == (30 * US, "host_sync", "medium")
    assert found["budget_parts"] == ["idle_sync_ns", "idle_launch_ns"]


def test_a_wait_costs_no_more_than_it_lasts(advise_events: Advise) -> None:
    found = _one(advise_events(*_synchronising(10, 90)), "host_sync")
    assert found["saving_ns_per_step"] == 10 * US
    evidence = {each["name"]: each["value"] for each in found["evidence"]}
    assert (evidence["waits per step"], evidence["host waits per step"]) == (1, 10 * US)


def test_a_wait_of_one_step_alone_is_not_told(advise_events: Advise) -> None:
    events = _synchronising(60, 30)
    once = [event for event in events if event["name"] != "cudaStreamSynchronize" or event["ts"] < 300]
    assert "host_sync" not in _rules(advise_events(*once))


def _reduced(stream: int) -> list[Event]:
    """Two steps of 100 us: 60 us compute, then a collective of 40 us on a stream."""
    events = []
    for number in (1, 2):
        at = 100 * number
        events += [
            step(number, at, at + 100),
            launch(2 * number, at),
            launch(2 * number + 1, at + 2),
            kernel(2 * number, at, at + 60),
            kernel(2 * number + 1, at + 60, at + 100, name="ncclDevKernel_AllReduce_Sum", stream=stream),
        ]
    return events


def test_collectives_on_the_stream_that_computes(advise_events: Advise) -> None:
    (found,) = advise_events(*_reduced(7))
    assert (found["rule"], found["cause"]) == ("serial_communication", "serial_communication")
    assert (found["saving_ns_per_step"], found["saving_share"]) == (40 * US, 0.4)


def test_collectives_on_a_stream_of_their_own(advise_events: Advise) -> None:
    (found,) = advise_events(*_reduced(20))
    assert (found["rule"], found["cause"]) == ("exposed_communication", "exposed_communication")
    assert (found["saving_ns_per_step"], found["saving_share"]) == (40 * US, 0.4)


def _compiling(*steps: int) -> list[Event]:
    """Four steps of 100 us, in some of which 50 us go to compilation."""
    events = []
    for number in range(1, 5):
        at = 100 * number
        events += [step(number, at, at + 100), op("aten::mm", at + 60, at + 100)]
        if number in steps:
            events.append(host("user_annotation", "compile_fx.<locals>.fw_compiler_base (dynamo_timed)", at, at + 50))
    return events


def test_steps_that_compile_again_and_again(advise_events: Advise) -> None:
    found = _one(advise_events(*_compiling(1, 2, 3, 4)), "recompilation")
    assert (found["saving_ns_per_step"], found["saving_share"], found["severity"]) == (50 * US, 0.5, "high")


def test_the_first_step_may_compile(advise_events: Advise) -> None:
    assert "recompilation" not in _rules(advise_events(*_compiling(1)))


def test_findings_come_in_order_and_in_both_languages(advise_events: Advise) -> None:
    events = _compiling(1, 2, 3, 4) + [data(100 * number + 50, 100 * number + 55) for number in range(1, 5)]
    english, chinese = advise_events(*events), advise_events(*events, language="zh")
    savings = [finding["saving_ns_per_step"] for finding in english]
    assert savings == sorted(savings, reverse=True)
    assert len(savings) == 2
    for one, other in zip(english, chinese, strict=True):
        assert one["title"] != other["title"]
        assert one["fix"] != other["fix"]
        texts = {"title", "fix", "evidence"}
        assert {key: one[key] for key in one.keys() - texts} == {key: other[key] for key in other.keys() - texts}
        assert [each["value"] for each in one["evidence"]] == [each["value"] for each in other["evidence"]]
