"""What every formulation in the registry promises; a new one is tested on arrival."""

import textwrap
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from dualboost.errors import InvalidParameterError
from dualboost.formulations import FORMULATIONS, Formulation, make_formulation
from dualboost.matrix.rows import Rows

COUNTS = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0])
ROWS = Rows(COUNTS)


@pytest.fixture
def formulation(formulation_name):
    return FORMULATIONS[formulation_name]().resolve(COUNTS.sum())


def row_losses(programme, margins):
    """The loss of every row at these margins, less what the equations' multipliers would add."""
    return programme.block(slice(0, len(margins))).losses(margins, np.zeros(len(programme.equations)))


def test_docstring_states_the_mathematics(formulation):
    text = type(formulation).__doc__
    for words in (["Dual"], ["Pricing:"], ["C:"], ["Default:"], ["Paper's range:", "Grid:"], ["Paper:", "Papers:"]):
        assert any(word in text for word in words), words


def test_name_is_the_registry_key(formulation, formulation_name):
    assert formulation.name == formulation_name
    assert formulation.objective_sign in (-1, 1)
    assert formulation.title


def test_programme_is_consistent(formulation):
    programme = formulation.programme(ROWS, n_columns=3)
    assert programme.lower.shape == programme.upper.shape == COUNTS.shape
    assert (programme.lower < programme.upper).all()
    if programme.total is not None:
        assert programme.lower.sum() <= programme.total <= programme.upper.sum()


def test_box_is_proportional_to_multiplicity(formulation):
    programme = formulation.programme(ROWS, n_columns=3)
    bounds = programme.upper[np.isfinite(programme.upper)] / COUNTS[np.isfinite(programme.upper)]
    assert np.ptp(bounds) <= 1e-12 if len(bounds) else True


def test_merged_rows_equal_repeated_rows(formulation):
    """The loss of a row of multiplicity c is c times that of a single row, in the same problem size."""
    copies = COUNTS.astype(int)
    margins = np.linspace(-0.8, 0.9, len(COUNTS))
    merged = row_losses(formulation.programme(ROWS, 4), margins - 0.1)
    repeated = formulation.programme(Rows(np.ones(copies.sum())), 4)
    single = row_losses(repeated, np.repeat(margins - 0.1, copies))
    np.testing.assert_allclose(merged.sum(), single.sum(), rtol=1e-12)


def test_loss_is_the_conjugate_of_the_term(formulation):
    """No u in the box beats the response."""
    programme = formulation.programme(ROWS, 4)
    margins = np.linspace(-1.0, 1.0, len(COUNTS))
    losses = row_losses(programme, margins)
    low = np.where(np.isfinite(programme.lower), programme.lower, -10.0)
    high = np.where(np.isfinite(programme.upper), programme.upper, 10.0)
    for part in np.linspace(0.0, 1.0, 41):
        u = low + part * (high - low)
        assert (losses >= -u * margins - programme.term.value(u) - 1e-12).all()


def test_grid_is_increasing_and_admissible(formulation_name):
    for n_samples in (20, 300, 50_000):
        formulation = FORMULATIONS[formulation_name]()
        grid = formulation.C_grid(n_samples, k=10)
        assert len(grid) == 10
        assert (np.diff(grid) >= 0).all()
        low, high = formulation.C_bounds(n_samples)
        assert ((grid > low) & (grid <= high)).all()
        assert low < formulation.default_C(n_samples) <= high


@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, np.inf, "much"])
def test_impossible_C_is_refused(formulation_name, C):
    with pytest.raises(InvalidParameterError, match="C="):
        FORMULATIONS[formulation_name](C=C).resolve(100.0)


def test_given_C_is_kept(formulation_name):
    C = float(FORMULATIONS[formulation_name]().C_grid(100.0)[-1])
    assert FORMULATIONS[formulation_name](C=C).resolve(100.0).C == C


def test_capped_formulations_refuse_a_cap_below_uniform():
    with pytest.raises(InvalidParameterError, match="total of the sample weights"):
        make_formulation("erlp", 101.0, 0.01).resolve(100.0)


def test_paper_ranges():
    np.testing.assert_allclose(make_formulation("nm", None, None).C_grid(500)[[0, -1]], [1e-4, 10**-0.33])
    np.testing.assert_allclose(make_formulation("erlp", None, 0.01).C_grid(500)[[0, -1]], [1.0, 30.0])
    np.testing.assert_allclose(make_formulation("md", None, None).C_grid(500)[[0, -1]], [1.0, 120.0])


def test_unknown_names_are_refused():
    with pytest.raises(InvalidParameterError, match="choose one of"):
        make_formulation("lpboost", None, None)


def test_an_object_keeps_its_parameters_unless_C_is_given():
    given = FORMULATIONS["erlp"](C=3.0, epsilon=0.5)
    assert make_formulation(given, None, None) is given
    changed = make_formulation(FORMULATIONS["erlp"](epsilon=0.5), 7.0, None)
    assert isinstance(changed, Formulation)
    assert (changed.C, changed.epsilon) == (7.0, 0.5)
    with pytest.raises(InvalidParameterError, match=r"C=7\.0 is given beside"):
        make_formulation(given, 7.0, None)
    with pytest.raises(InvalidParameterError, match=r"epsilon=0\.1 is given beside"):
        make_formulation(given, None, 0.1)


def test_only_some_have_an_epsilon(formulation_name):
    if FORMULATIONS[formulation_name].has_epsilon():
        assert make_formulation(formulation_name, None, 0.3).epsilon == 0.3
        assert make_formulation(formulation_name, None, None).epsilon == 0.01
        return
    with pytest.raises(InvalidParameterError, match="has no epsilon"):
        make_formulation(formulation_name, None, 0.3)


def test_every_formulation_is_cloned(formulation_name):
    formulation = FORMULATIONS[formulation_name](C=0.5)
    again = clone(formulation)
    assert again == formulation
    assert again is not formulation
    assert again.set_params(C=0.25).get_params()["C"] == 0.25
    with pytest.raises(InvalidParameterError, match="no parameter 'D'"):
        again.set_params(C=1.0, D=1)
    assert again.C == 0.25


def test_epsilon_sets_eta():
    formulation = FORMULATIONS["qrlp"](epsilon=0.01)
    assert formulation.eta(1000) == pytest.approx(np.log(1000) / 0.005)
    assert FORMULATIONS["qrlp"](epsilon=1e6).eta(1000) == 0.5
    with pytest.raises(InvalidParameterError, match="epsilon"):
        FORMULATIONS["erlp"](epsilon=0.0)


def test_md_can_clip_negative_duals():
    u = np.array([-1.0, 2.0])
    np.testing.assert_array_equal(FORMULATIONS["md"]().priced_duals(u), u)
    assert FORMULATIONS["md"]().prices_all_duals
    assert not FORMULATIONS["md"](negative_weights="clip").prices_all_duals
    np.testing.assert_array_equal(FORMULATIONS["md"](negative_weights="clip").priced_duals(u), [0.0, 2.0])
    with pytest.raises(InvalidParameterError, match="negative_weights"):
        FORMULATIONS["md"](negative_weights="ignore")


def test_the_recipe_for_a_formulation_is_the_one_in_the_package():
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = textwrap.dedent("   " + text.split("```python\n   ")[1].split("```")[0])
    made = {"__name__": "dualboost.formulations.margins", "__package__": "dualboost.formulations"}
    exec(code, made)
    recipe, ours = made["NuLPBoost"](), FORMULATIONS["lp-nu"]()
    for attribute in ("name", "title", "optimises", "meaning_of_C", "use", "objective_sign", "sparser_with_larger_C"):
        assert getattr(recipe, attribute) == getattr(ours, attribute)
    assert recipe.C_bounds(50.0) == ours.C_bounds(50.0)
    np.testing.assert_array_equal(recipe.C_grid(50.0), ours.C_grid(50.0))
    one, other = (f.resolve(COUNTS.sum()).programme(ROWS, 3) for f in (recipe, ours))
    np.testing.assert_array_equal(one.upper, other.upper)
    assert (one.total, one.weight_set) == (other.total, other.weight_set)


def test_the_page_of_the_family_has_every_formulation():
    text = (Path(__file__).parents[2] / "docs" / "family.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in FORMULATIONS)
