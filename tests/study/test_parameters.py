"""Parameters of a study: lists, tables, random ones; distributions against scipy."""

from __future__ import annotations

import pickle

import numpy as np
import pandas
import pytest
import scipy.stats

import mbd
from mbd.study import choice, lognormal, loguniform, normal, triangular, truncated_normal, uniform
from mbd.study.distributions import as_distribution
from mbd.study.parameter_table import ParameterTable, parameter_table

TAILS = 1e-12  # relative, of quantiles


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (normal(1.0, 0.1), scipy.stats.norm(1.0, 0.1)),
        (uniform(-1.0, 3.0), scipy.stats.uniform(-1.0, 4.0)),
        (lognormal(2.0, 0.3), scipy.stats.lognorm(0.3, scale=2.0)),
        (loguniform(0.1, 9.0), scipy.stats.loguniform(0.1, 9.0)),
        (triangular(1.0, 2.0, 5.0), scipy.stats.triang(0.25, 1.0, 4.0)),
        (truncated_normal(1.0, 0.5, low=0.2), scipy.stats.truncnorm(-1.6, np.inf, 1.0, 0.5)),
        (truncated_normal(1.0, 0.5, 9.0, 30.0), scipy.stats.truncnorm(16.0, 58.0, 1.0, 0.5)),  # far in the tail
        (truncated_normal(0.0, 1.0, 40.0, 41.0), scipy.stats.truncnorm(40.0, 41.0)),  # where probabilities are zero
        (truncated_normal(0.0, 1.0, high=-60.0), scipy.stats.truncnorm(-np.inf, -60.0)),
    ],
    ids=lambda x: str(x) if hasattr(x, "quantile") else "",
)
def test_quantiles_are_those_of_scipy(ours, theirs):
    p = np.concatenate(([1e-9], np.linspace(0.001, 0.999, 99)))
    np.testing.assert_allclose(ours.quantile(p), theirs.ppf(p), rtol=TAILS, atol=TAILS)
    last = 1.0 - 1e-9
    assert theirs.sf(ours.quantile(last)) == pytest.approx(1.0 - last, rel=1e-6)
    assert np.isfinite(ours.quantile(np.array([0.0, 1.0]))).all()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ours)).quantile(p), ours.quantile(p))
    again = as_distribution(theirs, "x")
    np.testing.assert_array_equal(again.quantile(p), theirs.ppf(p))


def table(given, samples=None, sampling=None, combine=None, seed=0) -> ParameterTable:
    return parameter_table(given, samples, sampling, combine, seed)


def test_grid_in_order_of_the_last_axis():
    t = table({"a": [1, 2], "b": ["x", "y", "z"], "c": 0.5})
    assert len(t) == 6 and t.shape == (2, 3)
    assert t.rows(np.array([0, 1, 5])) == [
        {"a": 1, "b": "x", "c": 0.5}, {"a": 1, "b": "y", "c": 0.5}, {"a": 2, "b": "z", "c": 0.5},
    ]  # fmt: skip
    assert type(t.rows(np.array([0]))[0]["a"]) is int  # build gets plain numbers
    np.testing.assert_array_equal(t.columns()["a"], [1, 1, 1, 2, 2, 2])


def test_rows_of_a_table():
    import pandas

    rows = [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "y"}]
    for given in (rows, pandas.DataFrame(rows)):
        assert table(given).rows(np.array([0, 1])) == rows
    both = table({"a": [1.0, 2.0], "b": ["x", "y"], "c": normal(0.0, 1.0)}, 3, combine="zip")
    assert both.shape == (2, 3)  # every row with every sample
    vectors = table({"direction": np.eye(3), "f": [1.0, 2.0]})
    assert vectors.shape == (3, 2)
    np.testing.assert_array_equal(vectors.rows(np.array([2]))[0]["direction"], (0, 1, 0))


def test_latin_hypercube_has_one_value_in_each_interval():
    x = table({"x": uniform(0.0, 1.0), "y": normal(0.0, 1.0)}, 50).columns()
    np.testing.assert_array_equal(np.sort(np.floor(50.0 * x["x"])), np.arange(50))
    np.testing.assert_array_equal(np.sort(np.floor(50.0 * scipy.stats.norm.cdf(x["y"]))), np.arange(50))
    assert abs(scipy.stats.spearmanr(x["x"], x["y"]).statistic) < 0.3


def test_sobol_points_are_balanced():
    x = table({"x": uniform(0.0, 1.0), "y": uniform(0.0, 1.0)}, 64, "sobol").columns()
    cells = np.floor(8.0 * x["x"]) * 8 + np.floor(8.0 * x["y"])
    assert len(np.unique(cells)) == 64  # a (0, 2)-net has one point in each cell
    with pytest.raises(mbd.ModelError, match="expected 64 or 128"):
        table({"x": uniform(0.0, 1.0)}, 100, "sobol")


def test_samples_of_a_parameter_do_not_depend_on_the_others():
    for sampling in ("latin", "random"):
        alone = table({"x": uniform(0.0, 1.0)}, 20, sampling).columns()["x"]
        among = table({"y": normal(0.0, 1.0), "x": uniform(0.0, 1.0), "k": [1, 2]}, 20, sampling).columns()["x"]
        np.testing.assert_array_equal(among[:20], alone)
        assert not np.array_equal(table({"x": uniform(0.0, 1.0)}, 20, sampling, seed=1).columns()["x"], alone)


def test_choices():
    x = table({"x": choice(["a", "b"]), "n": choice([1, 2, 3])}, 300).columns()
    assert {k: int((x["x"] == k).sum()) for k in "ab"} == {"a": 150, "b": 150}  # of a Latin hypercube
    np.testing.assert_array_equal(np.bincount(x["n"]), [0, 100, 100, 100])


def test_tables_survive_files():
    t = table({"a": [1, 2], "b": ["x", "y"], "c": 0.5, "d": normal(0.0, 1.0), "e": np.eye(3)}, 4)
    again = ParameterTable.from_arrays(*t.to_arrays())
    assert again.digests() == t.digests() and again.names == t.names
    assert (
        again.digests()
        != table({"a": [1, 3], "b": ["x", "y"], "c": 0.5, "d": normal(0, 1), "e": np.eye(3)}, 4).digests()
    )


@pytest.mark.parametrize(
    ("given", "options", "text"),
    [
        ({}, {}, "no parameters"),
        (None, {}, "expected parameters as a dictionary"),
        ({"x": normal(0.0, 1.0)}, {}, "samples = None; expected how many"),
        ({"x": [1.0]}, {"samples": 5}, "no parameter is random"),
        ({"x": [1.0]}, {"sampling": "sobol"}, "no parameter is random"),
        ({"x": normal(0.0, 1.0)}, {"samples": 5, "sampling": "halton"}, "expected one of 'latin'"),
        ({"x": [1.0, np.nan]}, {}, "finite"),
        ({"x": [1.0, "a"]}, {}, "not both"),
        ({"x": [object()]}, {}, "look them up in a dictionary"),
        ({"x": []}, {}, "parameter 'x'"),
        ({"x": [[1.0, 2.0], [3.0]]}, {}, "rows of an array"),
        ({"x": np.ma.masked_array([1.0, 1e20], mask=[False, True])}, {}, "parameter 'x'"),
        (pandas.DataFrame([[1.0, 2.0]], columns=["x", "x"]), {}, "two columns of the table are called 'x'"),
        ({"rng": [1.0]}, {}, "'rng'"),
        ({"not a name": [1.0]}, {}, "name of an argument"),
        ({"x": [1.0, 2.0], "y": [1.0]}, {"combine": "zip"}, "'x' has 2, 'y' has 1"),
        ({"x": [1.0]}, {"combine": "both"}, "combine"),
        ([{"x": 1.0}, {"y": 1.0}], {}, "same names"),
        ({"x": scipy.stats.norm}, {"samples": 3}, "give it its arguments"),
        ({"x": scipy.stats.pareto(0.1)}, {"samples": 1 << 14}, None),
    ],
)
def test_what_is_refused(given, options, text):
    if text is None:  # heavy tails are the user's choice
        assert len(table(given, **options)) == options["samples"]
        return
    with pytest.raises(mbd.ModelError, match=text):
        table(given, **options)


@pytest.mark.parametrize("call", [
    lambda: normal(0.0, 0.0), lambda: uniform(1.0, 1.0), lambda: lognormal(-1.0, 0.1),
    lambda: triangular(0.0, 2.0, 1.0),
    lambda: truncated_normal(0.0, 1.0, 2.0, 1.0), lambda: loguniform(0.0, 1.0), lambda: choice([]),
    lambda: truncated_normal(0.0, 1.0, "low"), lambda: choice([1, "a"]), lambda: choice([1.0, np.nan]),
])  # fmt: skip
def test_distributions_refuse_what_they_are_not(call):
    with pytest.raises(mbd.ModelError, match="expected"):
        call()
