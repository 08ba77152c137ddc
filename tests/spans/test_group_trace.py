"""The trace of a prompt group: its spans, their parents, times, attributes and status."""

from __future__ import annotations

from tests.spans.rows import T0, History, ids_of, links, named, spans_of


def whole_life() -> History:
    """A group with one attempt that spans two refits, and is trained."""
    run = History()
    run.refit(3, 3)
    run.reserve(generations=1, epoch=0, weight_version=3)
    run.dispatch(attempt_index=0, weight_version=3, instance="server-0")
    run.refit(3, 4, calls=[["c", 5], ["d", 0]], seconds=0.5)
    run.refit(4, 5)
    run.seal(tokens=512, reward=0.5, masked=False)
    run.add("group_published", group_id="g", tokens_by_version={3: 112, 5: 400})
    run.train(6, "g", tokens=512, batch_age=1.4375, seconds=2.0)
    return run


def test_group_is_the_root_of_one_trace() -> None:
    """An attempt is a child of its group, in the same trace; the group has no parent."""
    spans = spans_of(whole_life())
    group, attempt = named(spans, "rollout.group"), named(spans, "rollout.attempt")
    assert (None, group.span_id, group.trace_id) == (group.parent_id, attempt.parent_id, attempt.trace_id)


def test_steps_and_refits_are_traces_of_their_own() -> None:
    """Steps, refits and groups share no trace, and roots have no parent."""
    roots = [span for span in spans_of(whole_life()) if span.name != "rollout.attempt"]
    assert [None] * 5 == [span.parent_id for span in roots]
    assert 5 == len({span.trace_id for span in roots})


def test_attempt_attributes() -> None:
    """An attempt carries everything that the conventions promise."""
    expected = {
        "rtrace.run_id": "a" * 16,
        "rtrace.attempt_id": "x",
        "rtrace.group_id": "g",
        "rtrace.prompt_id": 17,
        "rtrace.generation_index": 0,
        "rtrace.attempt_index": 0,
        "rtrace.instance": "server-0",
        "rtrace.dispatch_count": 1,
        "rtrace.refusals": 0,
        "rtrace.outcome": "sealed",
        "rtrace.tokens": 512,
        "gen_ai.usage.output_tokens": 512,
        "rtrace.reward": 0.5,
        "rtrace.masked": False,
        "rtrace.weight_version_start": 3,
        "rtrace.weight_version_end": 5,
        "rtrace.refits_spanned": 2,
        "rtrace.refits_bucket": "2+",
    }
    assert expected == named(spans_of(whole_life()), "rollout.attempt").attributes


def test_attempt_links_to_the_refits_that_cut_it() -> None:
    """Both refits within the attempt are linked; the report of the loaded weights is none."""
    spans = spans_of(whole_life())
    refits = [ids_of(span) for span in spans if span.name == "weights.sync"][1:]
    assert refits == links(named(spans, "rollout.attempt"), "refit")


def test_times_and_status() -> None:
    """A span lasts from its first row to its last; a seal and a training are no errors."""
    spans = spans_of(whole_life())
    found = {
        span.name: (span.start_ns / 1e9 - T0, span.end_ns / 1e9 - T0, span.error)
        for span in spans
        if span.name in {"rollout.group", "rollout.attempt", "train.step"}
    }
    expected = {
        "rollout.group": (2.0, 8.0, None), "rollout.attempt": (3.0, 6.0, None), "train.step": (6.0, 8.0, None),
    }  # fmt: skip
    assert expected == found


def test_step_attributes_and_link() -> None:
    """A step tells its staleness, and links to its groups."""
    spans = spans_of(whole_life())
    step = named(spans, "train.step")
    expected = {
        "rtrace.run_id": "a" * 16,
        "rtrace.step": 6,
        "rtrace.trained_version": 6,
        "rtrace.batch_age": 1.4375,
        "rtrace.age_p95": 3,
        "rtrace.age_max": 3,
        "rtrace.tokens": 512,
        "rtrace.groups": 1,
        "rtrace.groups_with_tokens": 1,
        "rtrace.seconds": 2.0,
    }
    assert (expected, [ids_of(named(spans, "rollout.group"))]) == (step.attributes, links(step, "trained"))


def test_refit_attributes_are_counts() -> None:
    """The calls of a refit are counted, not listed."""
    refit = named(spans_of(whole_life()), "weights.sync", new_version=4)
    expected = {
        "rtrace.run_id": "a" * 16,
        "rtrace.replaced_version": 3,
        "rtrace.new_version": 4,
        "rtrace.initial": False,
        "rtrace.calls.count": 2,
        "rtrace.calls_bucket": "2+",
        "rtrace.calls.tokens_sum": 5,
        "rtrace.calls.tokens_min": 0,
        "rtrace.calls.tokens_max": 5,
        "rtrace.seconds": 0.5,
    }
    assert expected == refit.attributes


def test_abandoned_and_discarded_are_errors_with_their_reason() -> None:
    """The reason is the status of the attempt and of the group."""
    run = History()
    run.reserve()
    run.dispatch()
    run.add("attempt_abandoned", attempt_id="x", reason="server error")
    run.add("group_discarded", group_id="g", reason="too few")
    found = {span.name: (span.error, span.attributes["rtrace.outcome"]) for span in spans_of(run)}
    expected = {"rollout.attempt": ("server error", "abandoned"), "rollout.group": ("too few", "discarded")}
    assert expected == found


def test_refused_and_masked_are_no_errors() -> None:
    """A refused attempt that is dispatched again stays one span, and a masked result is fine."""
    run = History()
    run.reserve()
    run.dispatch()
    run.add("attempt_refused", attempt_id="x", reason="busy")
    run.dispatch()
    run.seal(tokens=3, masked=True)
    attempt = named(spans_of(run), "rollout.attempt")
    facts = {name: attempt.attributes[f"rtrace.{name}"] for name in ("dispatch_count", "refusals", "masked")}
    events = ["attempt_dispatched", "attempt_refused", "attempt_dispatched", "attempt_sealed"]
    assert (None, {"dispatch_count": 2, "refusals": 1, "masked": True}) == (attempt.error, facts)
    assert events == [event.name for event in attempt.events]


def test_started_rows_give_the_start_of_a_phase() -> None:
    """With a ``*_started`` row the span begins there."""
    run = History()
    run.add("train_step_started", step=1)
    run.add("checkpoint_started")
    run.train(1, seconds=0.1)
    run.add("checkpoint_published", checkpoint_id="c", step=1)
    found = {span.name: (span.start_ns / 1e9 - T0, span.end_ns / 1e9 - T0) for span in spans_of(run)}
    assert {"train.step": (1.0, 3.0), "checkpoint.publish": (2.0, 4.0)} == found
