"""The network's side is a real HTTP server on this machine, OpenML's and the census bureau's files are on disk."""

import gzip
import hashlib
import io
import json
import threading
import zipfile
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest

from dualboost.errors import InvalidDataError, InvalidParameterError
from dualboost_study.datasets import DATASETS, data_folder, fetch_folder, load
from dualboost_study.sources import CHECKSUMS, COMPAS, DOWNLOADS, RECIPES, OpenML, Survey, Web, fetch


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def site(tmp_path):
    """A folder, and the address under which it is served."""
    served = tmp_path / "site"
    served.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(served)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield served, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


def only(result):
    (one,) = list(result)
    return one


def local(name, site, content, rows, **changes):
    """The recipe of a data set, with its address on the local site."""
    served, address = site
    (served / "file").write_bytes(content)
    return {name: replace(RECIPES[name], url=f"{address}/file", rows=rows, sha256=None, **changes)}


ADULT_ROW = "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Husband, White, Male, 2174, 0, 40, Cuba, {}\n"


@pytest.fixture
def adult(site):
    content = zipped(
        adult__data=ADULT_ROW.format("<=50K") * 2,
        adult__test="|1x3 Cross validator\n" + ADULT_ROW.format(">50K."),
    )
    return local("adult", site, content, rows=3)


def test_every_data_set_is_fetched_or_generated():
    assert set(RECIPES) | {name for name, dataset in DATASETS.items() if dataset.generate} == set(DATASETS)
    expected = {name: DATASETS[name].rows for name in RECIPES} | {"compas": 7214}
    assert {name: source.rows for name, source in RECIPES.items()} == expected


def test_an_archive_becomes_a_table(adult, tmp_path):
    assert only(fetch(tmp_path / "data", recipes=adult)).state == "fetched"
    X, y = load("adult", tmp_path / "data")
    np.testing.assert_array_equal(y, [-1, -1, 1])
    assert X["occupation"].tolist() == ["?"] * 3
    assert X["age"].tolist() == [39] * 3


def test_what_is_there_is_verified_and_not_fetched_again(adult, tmp_path):
    list(fetch(tmp_path / "data", recipes=adult))
    again = only(fetch(tmp_path / "data", recipes={"adult": replace(adult["adult"], url="http://127.0.0.1:9/no")}))
    assert (again.state, again.detail) == ("there already", "verified")


def test_a_file_that_changed_is_told(adult, tmp_path):
    list(fetch(tmp_path, recipes=adult))
    path = tmp_path / "adult.csv.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"Cuba", b"Peru")))
    assert "checksum" in only(fetch(tmp_path, recipes=adult)).detail


def test_a_source_that_changed_is_told(adult, site, tmp_path):
    list(fetch(tmp_path, recipes=adult))
    first = json.loads((tmp_path / CHECKSUMS).read_text())
    (tmp_path / "adult.csv.gz").unlink()
    (tmp_path / DOWNLOADS / "file").unlink()
    other = zipped(adult__data=ADULT_ROW.format("<=50K").replace("39", "40") * 2, adult__test=ADULT_ROW.format(">50K."))
    (site[0] / "file").write_bytes(other)
    result = only(fetch(tmp_path, recipes=adult))
    assert (result.state, "checksum" in result.detail) == ("failed", True)
    assert not (tmp_path / "adult.csv.gz").exists()
    assert json.loads((tmp_path / CHECKSUMS).read_text()) == first


def test_a_known_checksum_must_agree(adult, site, tmp_path):
    right = hashlib.sha256((site[0] / "file").read_bytes()).hexdigest()
    wrong = {"adult": replace(adult["adult"], sha256="0" * 64)}
    assert only(fetch(tmp_path / "a", recipes=wrong)).state == "failed"
    assert only(fetch(tmp_path / "b", recipes={"adult": replace(adult["adult"], sha256=right)})).state == "fetched"


def test_a_wrong_number_of_rows_writes_nothing(adult, tmp_path):
    result = only(fetch(tmp_path, recipes={"adult": replace(adult["adult"], rows=48842)}))
    assert result.detail == "InvalidDataError: adult: 3 rows came where 48842 were expected; the source has changed."
    assert not (tmp_path / "adult.csv.gz").exists()


def test_one_that_fails_does_not_stop_the_others(adult, tmp_path):
    unreachable = {"titanic": replace(RECIPES["titanic"], url="http://127.0.0.1:9/titanic.csv")}
    states = {one.name: one.state for one in fetch(tmp_path, recipes=unreachable | adult)}
    assert states == {"titanic": "failed", "adult": "fetched"}


def test_an_unknown_name_is_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match="'twonorm' cannot be fetched"):
        list(fetch(tmp_path, ["twonorm"]))


def test_an_archive_inside_an_archive_is_searched(site, tmp_path):
    inner = zipped(MushroomDataset="", secondary_data__csv="class;cap-diameter;cap-shape\np;15.26;x\ne;1.5;\n")
    recipes = local("mushroom_secondary", site, zipped(readme__txt="", MushroomDataset__zip=inner), rows=2)
    assert only(fetch(tmp_path, recipes=recipes)).state == "fetched"
    X, y = load("mushroom_secondary", tmp_path)
    assert X["cap-shape"].isna().tolist() == [False, True]
    np.testing.assert_array_equal(y, [1, -1])


def test_an_archive_without_the_file_is_told(site, tmp_path):
    recipes = local("mushroom_secondary", site, zipped(other__txt=""), rows=2)
    assert "no file that ends with 'secondary_data.csv'" in only(fetch(tmp_path, recipes=recipes)).detail


def test_solar_flares(site, tmp_path):
    lines = ["*** 1066 solar flares ***", "H A X 1 3 1 1 1 1 1 0 0 0", "D R O 1 3 1 1 2 1 1 0 0 0"]
    content = zipped(flare__data1="", flare__data2="\n".join([*lines, lines[1]]))
    assert only(fetch(tmp_path, recipes=local("solar_flare", site, content, rows=2))).state == "fetched"
    X, y = load("solar_flare", tmp_path)
    assert X.shape == (2, 9)
    np.testing.assert_array_equal(y, [1, -1])


def test_compas_keeps_what_is_known_at_the_screening(site, tmp_path):
    frame = pd.DataFrame({name: [1, 2] for name in [*COMPAS, "is_recid", "two_year_recid"]})
    content = frame.to_csv(index=False).encode()
    assert only(fetch(tmp_path, recipes=local("compas", site, content, rows=2))).state == "fetched"
    assert list(load("compas", tmp_path)[0]) == COMPAS


def openml_files(downloads, data_id, arff, features):
    """The files that scikit-learn keeps of a data set of OpenML's, as OpenML serves them."""
    checksum = hashlib.md5(arff).hexdigest()
    url = f"https://www.openml.org/data/v1/download/{data_id}/set.arff"
    about = {
        "id": str(data_id),
        "name": "set",
        "description": "DNA",
        "version": "1",
        "format": "ARFF",
        "file_id": "1",
        "url": url,
        "status": "active",
        "default_target_attribute": "Class",
        "md5_checksum": checksum,
    }
    listed = [
        {"index": str(k), "name": name, "data_type": kind, "is_target": str(name == "Class").lower()}
        | {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
        for k, (name, kind) in enumerate(features.items())
    ]
    quality = [{"name": "NumberOfInstances", "value": str(arff.count(b"\n"))}]
    home = downloads / "openml" / "openml.org"
    for path, content in (
        (f"api/v1/json/data/{data_id}", {"data_set_description": about}),
        (f"api/v1/json/data/features/{data_id}", {"data_features": {"feature": listed}}),
        (f"api/v1/json/data/qualities/{data_id}", {"data_qualities": {"quality": quality}}),
        (f"data/v1/download/{data_id}/set.arff", arff),
    ):
        file = home / f"{path}.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(content if isinstance(content, bytes) else json.dumps(content).encode()))


SPLICE = b"""@RELATION splice
@ATTRIBUTE Class {EI,IE,N}
@ATTRIBUTE attribute_1 {A,C,G,T,N}
@ATTRIBUTE attribute_2 {A,C,G,T,N}
@DATA
EI,A,C
EI,A,C
IE,N,C
N,G,T
"""


def test_openml_by_scikit_learn(tmp_path):
    kinds = {"Class": "nominal", "attribute_1": "nominal", "attribute_2": "nominal"}
    openml_files(tmp_path / DOWNLOADS, RECIPES["splice"].data_id, SPLICE, kinds)
    result = only(fetch(tmp_path, recipes={"splice": replace(RECIPES["splice"], rows=2)}))
    assert (result.state, result.detail) == ("fetched", "2 rows")
    X, y = load("splice", tmp_path)
    assert X.to_numpy().tolist() == [["A", "C"], ["G", "T"]]
    np.testing.assert_array_equal(y, [1, -1])


@pytest.mark.parametrize(
    ("name", "frame", "expected"),
    [
        ("banana", {"V1": [1.0, 2.0], "Class": ["1", "2"]}, ["1", "2"]),
        ("breast_cancer", {"age": ["a", "a", None, "b"], "Class": ["x", "x", "x", "y"]}, ["x", "y"]),
        ("image", {"n": [9, 9, 9, 9], "a": [1, 1, 2, 3], "class": ["sky", "sky", "grass", "path"]}, [1, 0, 1]),
        ("thyroid", {"a": [1, 2, 3, 4], "class": [1, 1, 2, 3]}, [0, 0, 1, 1]),
    ],
)
def test_tables_of_openml_become_tidy(name, frame, expected):
    source = RECIPES[name]
    assert isinstance(source, OpenML)
    tidy = source.tidy(pd.DataFrame(frame))
    assert tidy["target"].tolist() == expected
    assert {"class", "Class", "n"}.isdisjoint(tidy)


PEOPLE = ["AGEP", "SCHL", "MAR", "RELP", "DIS", "ESP", "CIT", "MIG", "MIL", "ANC", "GCL", "NATIVITY", "DEAR", "DEYE"]
PEOPLE += ["DREM", "SEX", "RAC1P", "ESR", "PWGTP", "SERIALNO"]


def census_file(downloads, ages):
    """A file of the census bureau's, as folktables keeps it."""
    rng = np.random.default_rng(0)
    place = downloads / "2018" / "1-Year"
    place.mkdir(parents=True)
    people = pd.DataFrame(rng.integers(1, 3, (len(ages), len(PEOPLE))), columns=PEOPLE)
    people.assign(AGEP=ages).to_csv(place / "psam_p06.csv", index=False)


def test_the_census_by_folktables(tmp_path):
    census_file(tmp_path / DOWNLOADS, np.arange(200) % 50 + 10)
    recipes = {"employment_ca2018": Survey("ACSEmploymentFiltered", "CA", 50)}
    assert only(fetch(tmp_path, recipes=recipes)).state == "fetched"
    X, _ = load("employment_ca2018", tmp_path)
    assert len(X) == 50
    assert X["AGEP"].min() > 16
    assert "ESR" not in X


def test_too_few_people_are_told(tmp_path):
    census_file(tmp_path / DOWNLOADS, np.array([20, 30, 40]))
    recipes = {"employment_ca2018": Survey("ACSEmploymentFiltered", "CA", 50)}
    assert "3 rows came where 50" in only(fetch(tmp_path, recipes=recipes)).detail


def test_what_was_fetched_is_found_without_a_folder_named(monkeypatch, tmp_path):
    monkeypatch.delenv("DUALBOOST_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder(None) is None
    fetch_folder(None).mkdir(parents=True)
    assert data_folder(None) == fetch_folder(None)
    with pytest.raises(InvalidDataError, match="not a folder"):
        data_folder(tmp_path / "none")


def test_web_sources_name_their_address():
    assert all(source.url.startswith("https://") for source in RECIPES.values() if isinstance(source, Web))
