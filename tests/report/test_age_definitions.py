"""The report of ``rtrace age --definition``: whole texts for small results."""

from __future__ import annotations

from rtrace_otel.analysis.age.defined import DefinedAges, DefinitionFold
from rtrace_otel.analysis.age.definitions import DEFINITIONS, DEFINITIONS_BY_NAME
from rtrace_otel.analysis.age.staleness import Staleness, staleness
from rtrace_otel.events import Row
from rtrace_otel.report.age_definitions import definitions_document, definitions_json
from rtrace_otel.report.formats import to_csv, to_markdown
from tests.report.history import published, started, trace, trained

ROWS = (
    started("a", weight_version=3),
    published("a", "g", None, ("c", 3, 30), ("d", 4, 10)),
    trained("a", 1, 4, "g"),
    published("a", "h", {4: 10}),
    trained("a", 2, 4, "h"),
)


def defined(names: tuple[str, ...], *events: Row) -> tuple[tuple[DefinedAges, ...], Staleness]:
    """The ages under some definitions, and the staleness of the trace."""
    fold = DefinitionFold([DEFINITIONS_BY_NAME[name] for name in names])
    found = staleness(trace(*events), fold)
    return fold.result(), found


def test_one_definition_as_markdown() -> None:
    """The answer with its unit, the steps, the label, and what stands in for what a trace does not have."""
    expected = """\
# Staleness of f under verl

training/off\\_policy/trajectory\\_staleness/mean as verl defines it: 0.500 versions, the plain mean over 1 of 2 steps.

## Staleness per step, each in its own unit

| step | run | version | verl |
| ---: | --- | ---: | ---: |
| 1 | a | 4 | 0.500 |
| 2 | a | 4 | - |

## What each measures; the mean is over the steps

| definition | mean | steps | unit | framework | weighting | from | back to |
| --- | ---: | ---: | --- | --- | --- | --- | --- |
| verl | 0.500 | 1 | versions | verl | mean over trajectories | trained version | newest version of the trajectory |

Approximation: Each model call is taken as one trajectory, which is exact where a rollout makes one call. Versions \
stand for steps.
"""
    assert expected == to_markdown(definitions_document(*defined(("verl",), *ROWS), "f"))


def test_several_definitions_as_csv() -> None:
    """A column per definition, empty where the trace cannot tell."""
    names = ("nemo-batch-age", "verl", "skyrl")
    expected = "step,run,trained_version,nemo-batch-age,verl,skyrl\n1,a,4,0.75,0.5,\n2,a,4,0.0,,\n"

    assert expected == to_csv(definitions_document(*defined(names, *ROWS), "f"))


def test_a_definition_as_json_values() -> None:
    """The whole label, and a value or null for each step."""
    (found,) = definitions_json(defined(("verl",), *ROWS)[0])["definitions"]

    assert {
        "name": "verl", "framework": "verl", "metric": "training/off_policy/trajectory_staleness/mean",
        "later_clock": "trained version", "earlier_clock": "newest version of the trajectory", "unit": "versions",
        "weight": "mean over trajectories", "approximation": DEFINITIONS_BY_NAME["verl"].approximation,
        "mean": 0.5, "steps_known": 1,
        "by_step": [{"step": 1, "value": 0.5}, {"step": 2, "value": None}],
    } == found  # fmt: skip


def test_what_cannot_be_told_is_said() -> None:
    """A column of dashes would leave the reader to wonder."""
    document = definitions_document(*defined(("skyrl",), *ROWS), "f")

    assert "skyrl: the file cannot tell it for any step." in to_markdown(document)


def test_all_definitions_stand_side_by_side() -> None:
    """Every name is a column and a row."""
    names = tuple(DEFINITIONS_BY_NAME)
    text = to_markdown(definitions_document(*defined(names, *ROWS), "f"))

    assert f"| step | run | version | {' | '.join(names)} |" in text
    assert len(names) == sum(f"| {name} | " in text and f"\n| {name} |" in text for name in names)
    assert f"# Staleness of f under {len(DEFINITIONS)} definitions\n" in text


def test_without_steps_the_report_says_so() -> None:
    """An empty table is still a table."""
    document = definitions_document(*defined(("verl",), ROWS[0]), "f")

    assert to_markdown(document).startswith("# Staleness of f under verl\n\nNo training step in this file.\n")
    assert "step,run,trained_version,verl\n" == to_csv(document)
