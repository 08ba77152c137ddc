"""Numbers of many jobs are the sums of the jobs' own, and their ages those of all tokens."""

from __future__ import annotations

import json
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.fleet.numbers import Numbers, Volume, total_of

counts = st.integers(0, 10**6)
seconds = st.floats(0, 1e9, allow_nan=False)
volumes = st.builds(Volume, counts, counts, st.booleans())
named = st.dictionaries(st.sampled_from(["a", "b", "lost", "trained"]), volumes)
numbers = st.builds(
    Numbers, jobs=counts, stops=counts, dead_s=seconds, attempt_s=seconds, lost=volumes, fates=named, accounts=named,
    abandoned=named, ages=st.dictionaries(st.integers(-3, 40), counts), findings=st.dictionaries(st.text(), counts),
)  # fmt: skip


def test_ages_of_many_jobs_are_those_of_their_tokens() -> None:
    """Nine tokens of age 0 and one of age 9, then ninety of age 2: 189 versions over 100 tokens.

    The mean of the jobs' means, 0.9 and 2, would be 1.45. 50 and 95 of the 100 tokens are of age 2 at most, 9 below it.
    """
    total = total_of([Numbers(ages={0: 9, 9: 1}), Numbers(ages={2: 90})])
    assert {0: 9, 2: 90, 9: 1} == total.ages
    assert (9 + 180) / 100 == total.age_mean
    assert (2, 2, 9) == (total.age_at(0.5), total.age_at(0.95), total.age_at(1.0))


def test_without_tokens_nothing_is_known() -> None:
    """No token, no age and no share."""
    nothing = total_of([])
    assert (0, None, None, None) == (nothing.jobs, nothing.age_mean, nothing.age_at(0.95), nothing.waste)


def test_waste_is_what_trained_nothing() -> None:
    """Of 100 tokens 60 were trained, 10 wait, and 30 were lost or discarded."""
    accounts = {"trained": Volume(6, 60), "waiting": Volume(1, 10), "lost": Volume(2, 20), "discarded": Volume(1, 10)}
    assert 0.3 == Numbers(accounts=accounts).waste
    assert Volume(10, 100) == Numbers(accounts=accounts).generated


def test_a_sum_is_exact_only_if_every_part_is() -> None:
    """One job that knows only a lower bound makes the total one."""
    total = total_of([Numbers(lost=Volume(1, 5)), Numbers(lost=Volume(1, 7, exact=False))])
    assert Volume(2, 12, exact=False) == total.lost


def test_ages_of_a_damaged_file_do_not_stop_it() -> None:
    """Versions with hundreds of digits have no mean as a float; the quantiles are still known."""
    wild = Numbers(ages={10**400: 1})
    assert (None, 10**400) == (wild.age_mean, wild.age_at(0.5))


@given(st.lists(numbers, max_size=5), st.data())
def test_the_total_does_not_depend_on_the_order(parts: list[Numbers], data: st.DataObject) -> None:
    """Byte for byte, seconds and order of keys included."""
    shuffled = data.draw(st.permutations(parts))
    assert json.dumps(asdict(total_of(parts))) == json.dumps(asdict(total_of(shuffled)))


@given(st.lists(numbers, max_size=4), st.lists(numbers, max_size=4))
def test_sums_of_sums_are_sums(some: list[Numbers], others: list[Numbers]) -> None:
    """Parts can be added up first; whole numbers agree exactly."""
    both, parts = total_of([*some, *others]), total_of([total_of(some), total_of(others)])
    assert (both.jobs, both.lost, both.fates, both.accounts, both.ages, both.findings) == (
        parts.jobs, parts.lost, parts.fates, parts.accounts, parts.ages, parts.findings
    )  # fmt: skip


@given(st.lists(st.dictionaries(st.integers(-3, 40), st.integers(1, 50), min_size=1), min_size=1, max_size=4))
def test_quantiles_are_those_of_the_tokens_one_by_one(histograms: list[dict[int, int]]) -> None:
    """The age of the token in the middle, and of the one that 95 % do not exceed, when all tokens stand in a row."""
    tokens = sorted(age for ages in histograms for age, number in ages.items() for _ in range(number))
    total = total_of(Numbers(ages=ages) for ages in histograms)
    for quantile in (0.5, 0.95):
        needed = next(age for place, age in enumerate(tokens, 1) if place >= quantile * len(tokens))
        assert needed == total.age_at(quantile)
