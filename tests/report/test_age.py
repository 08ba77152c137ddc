"""The report of ``rtrace age``: whole texts for small results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rtrace_otel.analysis.age.ages import AgeDifference, AgeReport, DifferenceKind, StepAge, step_ages
from rtrace_otel.report.age import age_document, age_json, difference_sentences, headline
from rtrace_otel.report.formats import to_csv, to_markdown
from tests.report.history import published, refit, rounded, trace, trained

STEP = StepAge(1, "a", 5, 1.4, 1.4, 1.4, 1, 2, 2, 100, 1.0, 1, 1, 1)
NO_DATA = StepAge(2, "a", 6, None, None, None, None, None, None, 0, None, 2, 0, 1)

RUN_A, RUN_B = "aaaaaaaa00000001", "bbbbbbbb00000002"
RESTORE = rounded(
    step_ages(
        trace(
            refit(RUN_A, 4, 5, ("c1", 50), ("c2", 100)),
            published(RUN_A, "f", {5: 1024}),
            trained(RUN_A, 5, 5, "f", logged=0.0),
            published(RUN_B, "g", {4: 400}, ("c1", 4, 200), ("c2", 4, 200)),
            published(RUN_B, "h"),
            trained(RUN_B, 6, 6, "g", "h", logged=2.0),
        )
    )
)
"""The second step has lost the cuts of two calls: 150 + 100 of its 400 tokens are of version 5, not 4."""


def test_a_report_as_markdown() -> None:
    """Verdict, table and finding; columns that always have the usual value are left out."""
    expected = """\
# Batch age of trace.jsonl

Batch age 0.386 over 2 steps and 1,424 trained tokens (steps from 0.000 to 1.375).

## Batch age per step, in weight versions

| step | run | version | logged | published | recomputed | p50 | p95 | max | tokens | in cut calls | groups | no data |
| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| 5 | aaaaaaaa | 5 | 0.000 | 0.000 | - | 0 | 0 | 0 | 1,024 | - | 1 | 0 |
| 6 | bbbbbbbb | 6 | 2.000 | 2.000 | 1.375 | 1 | 2 | 2 | 400 | 100 % | 2 | 1 |

Step 6 (run bbbbbbbb): the published age is 0.625 too old. 2 calls had been cut by refits in run aaaaaaaa, before it \
stopped; the restored controller no longer had these cuts and counted their tokens under the version that they began \
on. The recomputed age is right.
"""
    assert expected == to_markdown(age_document(RESTORE, "trace.jsonl"))


def test_a_report_as_csv() -> None:
    """All columns with raw values."""
    expected = (
        "step,run,trained_version,logged,published,recomputed,p50,p95,max,tokens,cut_share,groups,"
        "groups_without_tokens,times_trained\n"
        "5,aaaaaaaa00000001,5,0.0,0.0,,0,0,0,1024,,1,0,1\n"
        "6,bbbbbbbb00000002,6,2.0,2.0,1.375,1,2,2,400,1.0,2,1,1\n"
    )
    assert expected == to_csv(age_document(RESTORE, "trace.jsonl"))


def test_a_report_as_json_values() -> None:
    """Every field of the result under its own name."""
    steps = [
        {"step": 5, "run": RUN_A, "trained_version": 5, "logged": 0.0, "published": 0.0, "recomputed": None, "p50": 0,
         "p95": 0, "max": 0, "tokens": 1024, "cut_share": None, "groups": 1, "groups_with_tokens": 1,
         "groups_without_tokens": 0, "times_trained": 1},
        {"step": 6, "run": RUN_B, "trained_version": 6, "logged": 2.0, "published": 2.0, "recomputed": 1.375, "p50": 1,
         "p95": 2, "max": 2, "tokens": 400, "cut_share": 1.0, "groups": 2, "groups_with_tokens": 1,
         "groups_without_tokens": 1, "times_trained": 1},
    ]  # fmt: skip
    differences = (
        {"kind": "cuts lost in restore", "run": RUN_B, "steps": (6,), "smallest": 0.625, "largest": 0.625, "calls": 2,
         "stopped_runs": (RUN_A,)},
    )  # fmt: skip
    expected = {"steps": steps, "differences": differences, "tokens": 1424, "batch_age": round(550 / 1424, 9)}

    assert expected == age_json(RESTORE)


def test_without_steps_the_report_says_so() -> None:
    """An empty table is still a table, for CSV."""
    document = age_document(AgeReport((), (), 0, None), "f")

    assert to_markdown(document).startswith("# Batch age of f\n\nNo training step in this file.\n")
    assert 1 == len(to_csv(document).splitlines())


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (
            AgeReport((STEP, replace(STEP, step=2, recomputed=2.6)), (), 200, 2.0),
            "Batch age 2.000 over 2 steps and 200 trained tokens (steps from 1.400 to 2.600).",
        ),
        (
            AgeReport((replace(STEP, tokens=1),), (), 1, 1.4),
            "Batch age 1.400 over 1 step and 1 trained token.",
        ),
        (AgeReport((NO_DATA,), (), 0, None), "1 step, none with token data: the batch age cannot be told."),
        (AgeReport((NO_DATA, NO_DATA), (), 0, None), "2 steps, none with token data: the batch age cannot be told."),
        (
            AgeReport((replace(STEP, recomputed=-0.5), replace(STEP, step=4, recomputed=-1.5)), (), 200, -1.0),
            (
                "Batch age -1.000 over 2 steps and 200 trained tokens (steps from -1.500 to -0.500). "
                "Negative in steps 1 and 4: tokens from versions newer than the one trained."
            ),
        ),
    ],
    ids=["plain", "one of each", "no data", "no data twice", "negative"],
)
def test_headlines(report: AgeReport, expected: str) -> None:
    """The answer in one sentence, also where there is none."""
    assert expected == headline(report)


LOST = AgeDifference(DifferenceKind.CUTS_LOST_IN_RESTORE, RUN_B, (5, 6, 8), 0.05, 0.25, 14, (RUN_A,))
NOT_APPLIED = replace(LOST, kind=DifferenceKind.CUTS_NOT_APPLIED, calls=0, stopped_runs=())
OTHERWISE = replace(NOT_APPLIED, kind=DifferenceKind.LOGGED_OTHERWISE)
_LOST_BY = "the restored controller no longer had {} and counted {} tokens under the version that {} began on. "
_RIGHT = "The recomputed age is right."


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        (
            LOST,
            "Steps 5-6 and 8 (run bbbbbbbb): the published age is 0.050 to 0.250 too old. 14 calls had been cut by "
            "refits in run aaaaaaaa, before it stopped; " + _LOST_BY.format("these cuts", "their", "they") + _RIGHT,
        ),
        (
            replace(LOST, steps=(5,), smallest=0.25, calls=1),
            "Step 5 (run bbbbbbbb): the published age is 0.250 too old. 1 call had been cut by refits in run aaaaaaaa, "
            "before it stopped; " + _LOST_BY.format("this cut", "its", "it") + _RIGHT,
        ),
        (
            replace(LOST, stopped_runs=(RUN_A, "cccccccc3")),
            "Steps 5-6 and 8 (run bbbbbbbb): the published age is 0.050 to 0.250 too old. 14 calls had been cut by "
            "refits in runs aaaaaaaa and cccccccc, before they stopped; "
            + _LOST_BY.format("these cuts", "their", "they")
            + _RIGHT,
        ),
        (
            NOT_APPLIED,
            (
                "Steps 5-6 and 8 (run bbbbbbbb): the published age is 0.050 to 0.250 too old compared with the one "
                "recomputed from the refit rows of the same run; the published counts do not follow from its calls and "
                "refits."
            ),
        ),
        (
            replace(NOT_APPLIED, smallest=-0.25, largest=-0.05),
            (
                "Steps 5-6 and 8 (run bbbbbbbb): the published age is 0.050 to 0.250 too young compared with the one "
                "recomputed from the refit rows of the same run; the published counts do not follow from its calls and "
                "refits."
            ),
        ),
        (
            replace(OTHERWISE, smallest=-0.05),
            (
                "Steps 5-6 and 8 (run bbbbbbbb): the logged age is off by -0.050 to +0.250 compared with the counts "
                "in the file; the controller computed it from something else, or rows are missing."
            ),
        ),
    ],
    ids=["lost", "one call", "two stops", "not applied", "too young", "logged otherwise"],
)
def test_differences_in_words(difference: AgeDifference, expected: str) -> None:
    """Which steps, by how much, in which direction, and why."""
    assert [expected] == difference_sentences(AgeReport((STEP,), (difference,), 100, 1.4))
