import pytest

from dualboost.errors import InvalidParameterError
from dualboost.formulations import STUDIED
from dualboost.study import Preset, load_preset
from dualboost.study.methods import METHODS
from dualboost.study.protocol import preset_names


def test_there_are_nine_methods_and_three_presets():
    assert set(METHODS) == {*STUDIED, "adaboost", "xgboost", "lightgbm"}
    assert preset_names() == ["cart", "paper", "quick"]


@pytest.mark.parametrize("name", preset_names())
def test_presets_unfold_into_distinct_cells(name):
    preset = load_preset(name)
    cells = preset.cells(["banana", "heart"])
    assert len({cell.key for cell in cells}) == len(cells) > 0


def test_the_papers_protocol():
    preset = load_preset("paper")
    assert (preset.seeds, preset.values, preset.iterations, preset.time_limit) == (5, 10, 100, 2700.0)
    assert preset.depths == (1, 3, 5, 10)
    per_dataset = len(preset.cells(["banana"]))
    assert per_dataset == 5 * 10 * 4 * (9 + 6 + 6 + 6)


def test_heuristic_methods_take_part_in_the_main_experiment_only():
    cells = load_preset("paper").cells(["banana"])
    assert {cell.experiment for cell in cells if cell.method == "xgboost"} == {"cart"}


def test_a_preset_of_ones_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('depths = [2]\nmethods = ["nm"]\nseeds = 1\n')
    assert len(load_preset(path).cells(["banana"])) == 10
    path.write_text("depth = [2]\n")
    with pytest.raises(InvalidParameterError, match="'depth' is not known"):
        load_preset(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": ("nn",)}, "methods: 'nn'"),
        ({"experiments": ("forest",)}, "experiments: 'forest'"),
        ({"preparation": "none"}, "preparation='none'"),
    ],
)
def test_what_is_not_known_is_named(arguments, message):
    with pytest.raises(InvalidParameterError, match=message):
        Preset(**arguments)


def test_unknown_presets_are_named():
    with pytest.raises(InvalidParameterError, match="preset='all'"):
        load_preset("all")
