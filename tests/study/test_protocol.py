from dataclasses import replace

import pytest

from dualboost.errors import InvalidParameterError
from dualboost.formulations import FORMULATIONS, STUDIED
from dualboost_study import Preset, load_preset
from dualboost_study.protocol import METHODS, preset_names

HEURISTIC = {"adaboost", "xgboost", "lightgbm"}


def test_the_papers_presets_have_its_nine_methods_and_the_familys_has_all():
    parts = ["cart", "confidence", "equal_size", "family", "optimal", "optimal_deep", "paper", "quick", "reweight"]
    assert preset_names() == parts
    assert set(METHODS) == {*FORMULATIONS, *HEURISTIC} == set(load_preset("family").methods)
    assert all(set(load_preset(name).methods) == {*STUDIED, *HEURISTIC} for name in ("cart", "paper", "quick"))


def test_a_method_without_a_hyperparameter_is_fitted_once():
    cells = replace(load_preset("family"), datasets=("banana",), depths=(1,), seeds=1, values=4).cells()
    assert [cell.value for cell in cells if cell.method == "hard"] == [0]
    assert [cell.value for cell in cells if cell.method == "lp-nu"] == [0, 1, 2, 3]


@pytest.mark.parametrize("name", preset_names())
def test_presets_unfold_into_distinct_cells(name):
    cells = replace(load_preset(name), datasets=("banana", "heart")).cells()
    assert len({cell.key for cell in cells}) == len(cells) > 0


def test_the_papers_protocol():
    preset = load_preset("paper")
    assert (preset.seeds, preset.values, preset.iterations, preset.time_limit) == (5, 10, 100, 2700.0)
    assert preset.depths == (1, 3, 5, 10)
    per_dataset = len(replace(preset, datasets=("banana",)).cells())
    assert per_dataset == 5 * 10 * 4 * (9 + 6 + 6 + 6)


def test_the_parts_of_the_full_study_have_no_fit_twice_and_the_papers_values():
    parts = [load_preset(name) for name in ("cart", "confidence", "reweight", "optimal", "optimal_deep")]
    assert all((part.values, part.iterations, part.most_rows) == (10, 100, 0) for part in parts)
    keys = [cell.key for part in parts for cell in replace(part, datasets=("banana",)).cells()]
    assert len(set(keys)) == len(keys) == 10 * (5 * 4 * (9 + 6) + 1 * 4 * 6 + 1 * 2 * 6 + 1 * 1 * 6)


def test_heuristic_methods_take_part_in_the_main_experiment_and_in_that_of_equal_sizes():
    cells = replace(load_preset("paper"), datasets=("banana",)).cells()
    assert {cell.experiment for cell in cells if cell.method == "xgboost"} == {"cart"}
    methods = {cell.method for cell in replace(load_preset("equal_size"), datasets=("banana",)).cells()}
    assert methods == {*STUDIED, *HEURISTIC, "logistic"}


def test_a_preset_of_ones_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('depths = [2]\nmethods = ["nm"]\nseeds = 1\n')
    assert len(replace(load_preset(path), datasets=("banana",)).cells()) == 10
    path.write_text("depth = [2]\n")
    with pytest.raises(InvalidParameterError, match="'depth' is not known"):
        load_preset(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": ("nn",)}, "methods: 'nn'"),
        ({"experiments": ("forest",)}, "experiments: 'forest'"),
        ({"preparation": "none"}, "preparation='none'"),
        ({"reoptimize": "never"}, "reoptimize='never'"),
        ({"datasets": "heart"}, "datasets='heart': give a list"),
        ({"depths": 1}, "depths=1: give a list"),
        ({"depths": ()}, "depths: the list is empty"),
        ({"depths": (0,)}, "depths=0 must be an integer"),
        ({"depths": (1.5,)}, "depths=1.5 must be an integer"),
        ({"methods": ("nm", "nm")}, "methods: 'nm' is there twice"),
        ({"seeds": "five"}, "seeds='five' must be an integer"),
        ({"seeds": 0}, "seeds=0 must be an integer of at least 1"),
        ({"most_rows": -5}, "most_rows=-5 must be an integer"),
        ({"time_limit": -1}, "time_limit=-1 must be a finite number"),
        ({"epsilon": 0.0}, "epsilon=0.0 must be a finite number"),
    ],
)
def test_what_is_not_known_is_named(arguments, message):
    with pytest.raises(InvalidParameterError, match=message):
        Preset(**arguments)


def test_files_that_are_no_presets_are_told(tmp_path):
    with pytest.raises(InvalidParameterError, match="cannot be read"):
        load_preset(tmp_path / "none.toml")
    (tmp_path / "broken.toml").write_text("depths = [1")
    with pytest.raises(InvalidParameterError, match="is not TOML"):
        load_preset(tmp_path / "broken.toml")


def test_unknown_presets_are_named():
    with pytest.raises(InvalidParameterError, match="preset='all'"):
        load_preset("all")
