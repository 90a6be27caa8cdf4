"""Damaged tables, read to fit and to predict in turn: a result, or an error of ours in one line."""

import random

import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.commands.tables import features_for, read_training
from dualboost.data.table_files import read_table
from dualboost.errors import DualBoostError

from ..thoroughness import how_many

N_READ, N_FITTED = how_many(1_000, 20_000), how_many(50, 1_000)
PARTS = how_many(2, 10)
LEARNERS = {"classification": DualBoostClassifier, "regression": DualBoostRegressor}
WORDS = [b"nan", b"inf", b"-inf", b"1e999", b"9" * 400, b"", b'"', b"\x00", b"\xff", b"\n", b",", b";", b"\r", b"True"]
WORDS += [b"2020-01-01", b"0x1F", b"1_000", "日本".encode(), b"-", b"'", b"1,2", b"\t", b" ", b"NA", b"y", b"x"]


def table(rng):
    lines, n_classes = [b"x,job,z,y"], rng.choice((2, 3))
    for k in range(rng.randint(6, 14)):
        values = (rng.randint(-9, 9), rng.choice([b"a", b"b", b""]), rng.random(), k % n_classes)
        lines.append(b"%d,%s,%.3f,%d" % values)
    return b"\n".join(lines) + b"\n"


def mutated(rng, content):
    content = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(content) + 1)
        kind = rng.randrange(6)
        if kind == 0 and place < len(content):
            content[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            content[place:place] = rng.choice(WORDS)
        elif kind == 2:
            del content[place : place + rng.randint(1, 6)]
        elif kind == 3:
            del content[place:]
        elif kind == 4:
            lines = bytes(content).split(b"\n")
            lines.insert(rng.randrange(len(lines)), rng.choice(lines))
            content = bytearray(b"\n".join(lines))
        else:
            content[place : place + rng.randint(0, 4)] = rng.choice(WORDS)
    return bytes(content)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.filterwarnings("ignore")
def test_damaged_tables_are_read_or_refused(part, tmp_path):
    rng, path = random.Random(part), tmp_path / "data.csv"
    path.write_bytes(table(rng))
    model = DualBoostClassifier(max_trees=2).fit(*read_training(path, "y")[:2])
    names = [str(name) for name in model.feature_names_in_]
    outcomes = {"read": 0, "fitted": 0, "predicted": 0}
    messages = []
    for k in range(N_READ // PARTS):
        path.write_bytes(mutated(rng, table(rng)))
        try:
            if k % 2:
                model.predict(features_for(names, read_table(path, ["job"]), path))
                outcomes["predicted"] += 1
                continue
            features, target, task, _ = read_training(path, "y")
            outcomes["read"] += 1
            if k % (N_READ // N_FITTED) == 0:
                LEARNERS[task](max_trees=2).fit(features, target)
                outcomes["fitted"] += 1
        except DualBoostError as error:
            messages.append(str(error))
    assert min(outcomes.values()) > 0, outcomes
    assert messages
    assert not any("\n" in message for message in messages)
