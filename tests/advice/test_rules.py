"""Rules on traces of a few events, beside what they must find."""

from __future__ import annotations

from typing import Any

from tests.advice.conftest import Advise
from tests.analyses.events import US, Event, data, host, kernel, launch, op, scope, step, sync

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


def _copying(name: str) -> list[Event]:
    """Two steps of 100 us: 20 us copying, then 80 us compute."""
    events = []
    for number in (1, 2):
        at = 100 * number
        events += [
            step(number, at, at + 100),
            launch(2 * number, at),
            launch(2 * number + 1, at + 2),
            kernel(2 * number, at, at + 20, name=name, category="gpu_memcpy"),
            kernel(2 * number + 1, at + 20, at + 100),
        ]
    return events


def test_copies_that_nothing_hides(advise_events: Advise) -> None:
    (found,) = advise_events(*_copying("Memcpy HtoD (Pageable -> Device)"))
    assert (found["rule"], found["cause"], found["severity"]) == ("exposed_copies", "data_transfer", "high")
    assert (found["saving_ns_per_step"], found["saving_share"]) == (20 * US, 0.2)
    assert "pin_memory" in found["fix"]


def test_copies_within_the_device_have_another_remedy(advise_events: Advise) -> None:
    (found,) = advise_events(*_copying("Memcpy DtoD (Device -> Device)"))
    assert ".clone()" in found["fix"]


def _apart(gap: int, *, waiting: bool = False) -> list[Event]:
    """Four steps of 100 us in which the device is busy, `gap` us from one to the next."""
    events = []
    for number in range(1, 5):
        at = (100 + gap) * number
        events += [step(number, at, at + 100), launch(number, at), kernel(number, at, at + 100)]
        if waiting:
            events.append(data(at + 100, at + 100 + gap))
    return events


def test_time_between_steps(advise_events: Advise) -> None:
    found = _one(advise_events(*_apart(100)), "step_interval")
    assert (found["cause"], found["severity"], found["budget_parts"]) == ("host_busy", "high", ["gap_before_ns"])
    assert (found["saving_ns_per_step"], found["saving_share"]) == (100 * US, 0.5)
    assert len(found["slices"]) == 3  # the kernels after the three gaps


def test_time_between_steps_that_data_takes(advise_events: Advise) -> None:
    found = _one(advise_events(*_apart(100, waiting=True)), "step_interval")
    assert found["cause"] == "data_loading"
    assert "waits for data" in found["title"]


def test_steps_without_time_between_them(advise_events: Advise) -> None:
    assert "step_interval" not in _rules(advise_events(*_apart(0)))


def _with_tail(name: str, count: int) -> list[Event]:
    """Two steps of 1000 us: 400 us forward and backward, then `count` kernels of an operator, each 5 us in 20."""
    events: list[Event] = []
    number = 0
    for at in (1000, 2000):
        number += 1
        events += [
            step(at // 1000, at, at + 1000),
            op("aten::mm", at, at + 10),
            launch(number, at + 1),
            kernel(number, at + 2, at + 200),
        ]
        number += 1
        backward = "autograd::engine::evaluate_function: MmBackward0"
        events += [op(backward, at + 20, at + 30), launch(number, at + 21), kernel(number, at + 200, at + 400)]
        for place in range(count):
            number += 1
            begin = at + 400 + 20 * place
            events += [op(name, begin, begin + 15), launch(number, begin + 14), kernel(number, begin + 15, begin + 20)]
    return events


def test_operators_that_compute_nothing_after_the_step(advise_events: Advise) -> None:
    """Twenty copies per step: 5 us each, and 15 us before each in which the device waits for its launch."""
    found = _one(advise_events(*_with_tail("aten::copy_", 20)), "useless_operators")
    assert (found["cause"], found["saving_ns_per_step"]) == ("useless_ops", 20 * 20 * US)
    assert found["title"].startswith("20 operators per step that compute nothing (copy_)")


def test_other_operators_are_of_use(advise_events: Advise) -> None:
    assert "useless_operators" not in _rules(advise_events(*_with_tail("aten::norm", 20)))


def test_a_few_of_them_are_no_chain(advise_events: Advise) -> None:
    assert "useless_operators" not in _rules(advise_events(*_with_tail("aten::copy_", 9)))


def test_a_range_named_optimizer_holds_useful_ones(advise_events: Advise) -> None:
    events = _with_tail("aten::copy_", 20)
    events += [scope("Optimizer.step#SGD.step", at + 400, at + 1000) for at in (1000, 2000)]
    assert "useless_operators" not in _rules(advise_events(*events))


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
