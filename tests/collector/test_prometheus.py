"""Prometheus accepts the shipped configuration, and the alerts fire when they should and not otherwise."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.collector.conftest import Stack
from tests.collector.files import read_yaml
from tests.servers import BUILD_TIMEOUT_S, COLLECTOR, get_json, need_program

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

RULES = COLLECTOR / "prometheus" / "rules.yaml"
CASES = Path(__file__).parent / "alerts.yaml"


def _promtool(*arguments: str, cwd: Path) -> str:
    done = subprocess.run(
        [need_program("promtool"), *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=600
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


def test_prometheus_accepts_it() -> None:
    """``promtool`` checks the configuration and the rules that it reads."""
    assert "SUCCESS: 5 rules found" in _promtool(
        "check", "config", str(COLLECTOR / "prometheus" / "prometheus.yaml"), cwd=COLLECTOR
    )


def test_alerts_fire_when_they_should(tmp_path: Path) -> None:
    """On series made for it: a stall, a new job that is slow, old batches, waste, lost rows, undelivered spans."""
    (tmp_path / "rules.yaml").write_bytes(RULES.read_bytes())
    (tmp_path / "alerts.yaml").write_bytes(CASES.read_bytes())
    assert _promtool("test", "rules", "alerts.yaml", cwd=tmp_path).rstrip().endswith("SUCCESS")


def test_every_alert_has_a_case() -> None:
    """No alert goes without a test in which it fires."""
    (group,) = read_yaml("prometheus/rules.yaml")["groups"]
    cases = read_yaml(str(CASES))["tests"]
    fired = {one["alertname"] for case in cases for one in case["alert_rule_test"] if one["exp_alerts"]}
    assert {rule["alert"] for rule in group["rules"]} == fired


def test_both_targets_are_scraped(stack: Stack) -> None:
    """The job's metrics and the collector's own; the sender's labels stay as they are."""
    targets = get_json(f"{stack.prometheus.url}/api/v1/targets")["data"]["activeTargets"]
    assert [("collector", "up", ""), ("rtrace", "up", "")] == sorted(
        (target["scrapePool"], target["health"], target["lastError"]) for target in targets
    )
    assert [] == stack.prometheus.query('{__name__=~"rtrace_.+|traces_span_metrics_.+", exported_job=~".+"}')


def test_the_running_rules_are_healthy(stack: Stack) -> None:
    """Prometheus evaluates each without an error."""
    (group,) = get_json(f"{stack.prometheus.url}/api/v1/rules")["data"]["groups"]
    assert {"ok"} == {rule["health"] for rule in group["rules"]}
