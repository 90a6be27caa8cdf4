"""The long tables: calls that are refused, unusual data, and commands. Entries end with a semicolon or a line."""

import re


def entries(text):
    return [entry for entry in re.split(r"; |;?\n", text.strip()) if entry]


METHODS = dict.fromkeys(("predict", "predict_proba", "decision_function", "predict_interval", "votes"), "(X,)")
METHODS |= dict.fromkeys(("predict_quantiles", "staged_predict", "staged_decision_function", "explain"), "(X,)")
METHODS |= {"rules": "()", "effects": "()", "margins": "(X, y)", "score": "(X, y)", "save": "('/nowhere/model.json',)"}
METHODS |= dict.fromkeys(("objective_", "n_trees_", "weights_", "history_", "feature_importances_", "nothing_"), "()")
"""Methods and attributes of estimators, with arguments."""

ODD = entries("""
X, y == "yes"; X, np.where(y == "yes", 2.5, -1.0); X, np.full(N, "no"); X, np.arange(N) < 2; np.zeros((N, 2)), y
np.array([[0.0], [1.0]]), np.array([0, 1]); X * 1e-300, y; X * 1e300, y; np.repeat(X[:30], 4, 0), y; X, X[:, 0] > 0
np.full((N, 2), np.nan), y; X, np.arange(N) % 12; X, np.full(N, 3.0); X, np.where(np.arange(N) == 5, 1e12, t)
X, 2**60 + np.arange(N); X, t * 1e-310; X, t * 1e300; X[:1], y[:1]; X[:1], t[:1]; X.astype(np.float32), t
""")

DATA = entries("""
fit(X[:, 0], y); fit(X[:0], y[:0]); fit(X[:, :0], y); fit(X[None], y); fit(np.where(X > 2, np.inf, X), y)
fit(X * 1j, y); fit(text[:, None], y); fit(None, y); fit(3.0, y); fit({"a": X[:, 0]}, y); fit(X.astype(object), y)
fit(pd.DataFrame(X, columns=list("aabcd")), y); fit(pd.DataFrame(X, columns=[1, "a", 2, "b", "c"]), y)
fit(X.tolist(), y.tolist()); fit(frame.assign(a=text), y); fit(frame.assign(a=pd.Timestamp("2024-01-01")), y)
fit(X, y[:-1]); fit(X, None); fit(X, np.c_[y, y]); fit(X, y[:, None]); fit(X, X[:, 0]); fit(X, X[:, 4]); fit(X, text)
fit(X, np.where(np.arange(N) == 3, None, y.astype(object))); fit(X, np.where(X[:, 0] > 1, np.inf, 0.0)); fit(X, 3)
fit(X, np.arange(N).astype(str)); fit(X, X[:, 0] * 1j); fit(X, pd.Series(pd.date_range("2024-01-01", periods=N)))
fit(X, y, -w); fit(X, y, w * np.nan); fit(X, y, w[1:]); fit(X, y, 0 * w); fit(X, y, "balanced"); fit(X, y, np.c_[w, w])
fit(X, y, np.where(w > 2, np.inf, 1)); fit(X, y, 1e95 * w); fit(X, y, 2.0)
""")

ROWS = entries("""
predict(new[:, :3]); predict(np.c_[new, new]); predict(np.where(new > 1, np.inf, new)); predict(text[:, None])
predict(new[0]); predict(None); predict(new[:0]); predict(new.tolist()); predict(frame); predict(new * 1j)
by_name(new); by_name(frame[names[::-1]]); by_name(frame[names[1:]]); by_name(frame.add_prefix("x"))
by_name(frame.assign(z=1)); by_name(frame.assign(a=text)); by_name(None); by_name(frame.assign(a="1.5"))
""")

PARAMETERS = entries("""
of_two(objective="lp", epsilon=0.1); of_two(objective="nope"); of_two(objective=3); of_two(objective="squared")
of_numbers(objective="lp"); of_numbers(quantiles=[0.1, 0.9]); of_numbers(objective="quantile", quantiles=[])
of_numbers(objective="quantile", quantiles=[0.9, 0.1]); of_numbers(objective="quantile", quantiles=[0.0, 0.5])
of_numbers(calibrate="conformal"); of_quantiles(calibrate="split"); of_quantiles(corrects="trees")
of_two(objective="lp", corrects="leaves"); of_two(corrects="trees"); of_three(objective="lexi"); of_two(corrects="rows")
of_two(objective=made("LPBoost", C=1.0), C=2.0); of_two(objective=made("LPBoost", C=1.0), Cs=2)
of_two(objective=made("ERLPBoost"), epsilon=1.0); of_numbers(objective=made("HuberLoss", C=1.0), C=2.0)
of_numbers(objective=made("LPBoost")); of_two(objective=made("HuberLoss")); of_two(scoring="roc_auc")
of_two(n_iter_no_change=3); of_two(validation_fraction=0.001); of_two(objective="lp", subsample=0.5)
of_two(objective="lp", max_features=2); of_three(monotonic_cst=[1, 0, 0, 0, 0]); of_two(monotonic_cst=[1, 0])
of_two(monotonic_cst={"a": 1}); of_two(monotonic_cst=[2, 0, 0, 0, 0]); of_two(interaction_cst=[{9}])
of_two(categorical_features=[9]); of_two(categorical_features=["a"]); of_two(categorical_features="all")
of_two(learner=Logistic()); of_two(objective="lp", learner=Linear()); of_two(objective="lp", learner=[])
of_two(objective="lp", learner=["cart", "nope"]); of_two(class_weight={"no": 1}); of_two(class_weight={"maybe": 1})
of_two(device="cuda"); of_two(device="gpu"); of_two(objective="lp", **solver(master="nope"))
of_two(objective="md", **solver(master="highs")); of_two(objective="nm", **solver(active_rows=10))
of_two(warm_start=True, Cs=2); of_two(Cs=[1.0, -1.0]); of_two(Cs=2, cv=90); of_two(Cs=[]); of_two(Cs=2, select="worst")
of_two(objective="lp", learner="optimal", max_leaf_nodes=3); of_two(learner="optimal", interaction_cst="pairwise")
of_two(objective="qrlp", C=1e9); of_two(objective="lp-nu", C=2.0); of_two(objective="hard", C=2.0)
of_two(objective="cq", C=1.0); of_two(objective="total", C=3.0); of_two(nothing=1); of_numbers(objective="poisson")
""")

OTHERS = entries("""
two.predict_interval(new); numbers.predict_interval(new); numbers.predict_quantiles(new); numbers.predict_proba(new)
quantiles.predict_interval(new, coverage=0.3); quantiles.predict_interval(new, coverage=2); linear.rules()
linear.explain(new); linear.effects(); db.to_c(linear); db.to_sql(linear); db.to_onnx(linear); db.to_lightgbm(linear)
linear.save("/nowhere/x"); two.save("/nowhere/x"); db.to_c(logistic); db.to_sql(logistic); db.to_onnx(forest)
db.to_lightgbm(3); db.to_c(two, name="1 x"); db.to_sql(two, probability_of="x"); db.to_sql(numbers, probability_of="x")
db.to_sql(two, quantile=0.5); db.to_sql(quantiles, quantile=0.3); db.to_sql(quantiles, end="middle"); db.nothing
db.to_sql(two, end="lower"); db.to_sql(quantiles, quantile=0.5, end="lower"); two.set_params(nope=1)
two.set_params(learner__voting="hard"); db.Formulation(C="x"); db.RowsOnDisk.of_array([1]); db.RowsOnDisk()
db.RowsOnDisk.of_parquet("/nowhere/*.parquet"); two.score(new, y); two.score(new, np.full(20, "maybe"))
two.margins(new, np.full(20, "maybe")); two.effects(new[:, :2]); two.rules(new[:, :2]); two.explain("x")
thin(logistic, X, y); thin(search, X, y); thin(type(forest), X, y); thin(medians, X, numbers_y); thin(several, X, y)
thin(3, X, y); thin([], X, y); thin([forest, medians], X, y); thin(unfitted, X, y); thin(two, X[:, :3], y)
thin(two, X, y[1:]); thin(two, X, np.full(120, "maybe")); thin(two, X, y, tolerance=-1); thin(two, X, y, tolerance="x")
thin(two, X, y, max_trees=0); thin(two, X, y, max_trees=1.5); thin(two, X, y, method="x"); thin(two, X, y, C=-1)
thin(two, X, y, formulation="cq"); thin(two, X, y, formulation="x"); thin(two, X, y, epsilon=0.1)
thin(two, X, y, validation_fraction=2); thin(two, X, y, validation_data=(X,)); thin(two, X, y, scoring="x")
thin(two, X, y, random_state="x"); thin(two, X, y, verbose="x"); thin(two, X, y, sample_weight=[1])
thin(two, X, y, method="refit", C=1.0); thin(three, X, y, method="reweight"); thin(three, X, y, formulation="lp")
thin(numbers, X, numbers_y, method="thin"); thin(quantiles, X, numbers_y); thin(linear, X, y, method="refit")
thin(numbers, X, y); thin(gaps, X, y, method="reweight", formulation="nope"); db.load_model("/nowhere/x.json")
load(lambda text: ""); load(lambda text: "hello"); load(lambda text: "[]"); load(lambda text: "{}")
load(lambda text: text[:900]); load(lambda text: text.replace('version": 1', 'version": 99'))
load(lambda text: text.replace("DualBoostClassifier", "Other")); load(lambda text: text.replace("null", "NaN", 1))
load(lambda text: text.replace('"feature": [', '"feature": [77, ', 1)); load(lambda text: text.replace("logistic", "x"))
load(lambda text: text.replace('"max_depth"', '"depth"')); load(lambda text: text)
""")

FITS = {
    "two": [
        "--formulation lp --max-depth 3 --C auto",
        "--class-weight balanced --json",
        "--learner optimal --formulation nm --voting confidence",
        "--sample-weight a",
        "",
    ],
    "three": ["--formulation qrlp --scale-free --json", ""],
    "numbers": ["--loss huber --delta 0.5 --json", "--C auto --cv 2", ""],
    "quantiles": ["--loss quantile --quantile 0.8 --json", "--loss quantile --quantiles 0.1,0.9 --calibrate conformal"],
}
"""Options of ``dualboost fit``; the commands below read the last model."""

COMMANDS = entries("""
predict model.json test.csv; predict model.json test.csv --json; evaluate model.json train.csv --target y
evaluate model.json train.csv --target y --json; show model.json; show model.json --rules --most 5
show model.json --json; export model.json -o model.c --name mine; export model.json -o model.sql
export model.json -o model.onnx; export model.json -o model.txt --json
thin model.json train.csv --target y -o small.json --tolerance 0.05; show small.json; predict small.json test.csv
thin model.json train.csv --target y -o small.json --max-trees 2 --json; completion bash
""")

WRONG = entries("""
fit missing.csv --target y; fit train.csv; fit train.csv --target z; fit train.csv --target y --formulation x
fit train.csv --target y --max-trees x; fit train.csv --target y --max-trees 0; fit train.csv --target y --C x
fit train.csv --target y --drop z; fit train.csv --target y --class-weight x; fit train.csv --target y --monotonic z=1
fit train.csv --target y -o train.csv; fit train.csv --target y -o no/where.json; predict train.csv test.csv
predict model.json missing.csv; evaluate model.json test.csv --target y; show missing.json; export model.json
export model.json -o model.xyz; nothing; thin train.csv train.csv --target y -o x.json; study nothing
thin model.json train.csv --target y; show model.json --most 0; fit train.csv --target y --nothing 3
fit train.csv --target y --task regression; fit train.csv --target y --loss huber; completion nothing
""")
