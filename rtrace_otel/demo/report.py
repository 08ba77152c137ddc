"""What the demo says of itself: the reward rose, and the trace agrees with what the server knows."""

from __future__ import annotations

from collections.abc import Sequence

from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.demo.supervisor import DemoResult
from rtrace_otel.demo.truth import StepTruth, steps_with_truth
from rtrace_otel.events import Row
from rtrace_otel.report.age import age_document
from rtrace_otel.report.document import Block, Document, Facts, Sentence
from rtrace_otel.report.numbers import plural
from rtrace_otel.report.restore import brief_document
from rtrace_otel.report.summary import next_blocks, summary_document

_END_STEPS = 3


def demo_document(result: DemoResult, events: Sequence[Row]) -> Document:
    """The demo's own findings as a document.

    Args:
        result: What the demo left.
        events: The rows of its trace.
    """
    rewards = [row["mean_reward"] for row in events if row["event"] == "train_step"]
    steps = steps_with_truth(events, result.truth)
    facts = (
        ("trace", str(result.trace)),
        (
            "reward",
            f"{_mean(rewards[:_END_STEPS]):.2f} in the first steps, {_mean(rewards[-_END_STEPS:]):.2f} in the last",
        ),
        (
            "stop",
            f"SIGKILL in step {result.killed_in_step}, restored from the checkpoint after step {result.restored_step}",
        ),
    )
    blocks: tuple[Block, ...] = (Facts("What was run", facts), Sentence(truth_sentence(steps), "finding"))
    return Document("Demo", blocks)


def demo_documents(result: DemoResult, events: Sequence[Row], read: ReadReport) -> tuple[Document, ...]:
    """All that the demo prints: its own findings, the summary, what the stop cost, the ages, and what to type next.

    Args:
        result: What the demo left.
        events: The rows of its trace.
        read: What the reader met in it.
    """
    ages = age_document(step_ages(events), read.source).followed_by(next_blocks(read.source))
    summary = summary_document(summarise(events), read, with_ages=False)
    return demo_document(result, events), summary, brief_document(restore_report(events), read.source), ages


def truth_sentence(steps: Sequence[StepTruth]) -> str:
    """How the three values of the batch age compare with the true one."""
    exact = sum(step.counts_recomputed == step.counts_true for step in steps)
    too_old = [step for step in steps if step.logged is not None and step.logged != step.true]
    text = (
        f"The server knows the true weight version of every token: the recomputed batch age is exact in {exact} of "
        f"{plural(len(steps), 'step')}"
    )
    if not too_old:
        return f"{text}, and so is the logged one."
    numbers = ", ".join(str(step.step) for step in too_old)
    return f"{text}; the logged one is not in {plural(len(too_old), 'step')} after the restore ({numbers})."


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
