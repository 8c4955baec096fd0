"""Models saved from Python that prepare tables themselves, and read files on the command line."""

import csv

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from eigenlabel import MultilabelBlend, SharedSubspaceClassifierCV
from eigenlabel.cli import main
from eigenlabel.datasets import load
from eigenlabel.persistence import SavedModel, load_model, save_model
from eigenlabel.persistence.table_models import TableModel, for_files
from eigenlabel.preprocessing import TablePreparation

pd = pytest.importorskip("pandas")
CODES = ["store", "open", "day"]  # categories that are no words
WORDS = ["battery", "screen", "price", "slow", "quick"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 120
    spoken = rng.integers(0, 5, (n, 3))
    frame = pd.DataFrame(
        {
            "zip": rng.choice(["01234", "04567", "08910"], n),
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.standard_normal(n).round(3)),
            "joined": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), "D"),
            "message": [
                " ".join(WORDS[k] for k in row) + f" item{i}" for i, row in enumerate(spoken)
            ],
            "vip": rng.choice(["yes", "no"], n),
            "store": pd.Categorical(rng.choice([1.0, 2.0, 3.5], n)),
            "open": pd.Categorical(rng.choice([True, False], n)),
            "day": pd.Categorical(rng.choice(pd.to_datetime(["2024-01-01", "2024-02-01"]), n)),
        }
    )
    labels = pd.DataFrame(
        {
            "near": (frame["zip"] == "01234").astype(int),
            "slow": (spoken == 3).any(axis=1).astype(int),
            "large": (frame["size"].fillna(0) > 0).astype(int),
        }
    )
    return frame, labels


MODELS = {
    "blend": lambda: MultilabelBlend(["linear", "neighbours"], random_state=0),
    "pipeline": lambda: make_pipeline(TablePreparation(), SharedSubspaceClassifierCV(cv=3)),
    "features of 0 and 1": lambda: make_pipeline(
        TablePreparation(ngram_range=(1, 1), sparse_output=True), SharedSubspaceClassifierCV(cv=3)
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_a_file_gets_the_predictions_of_its_frame(table, tmp_path, name, form):
    frame, labels = table
    model = MODELS[name]().fit(frame[:80], labels[:80])
    save_model(model, tmp_path / "m.skops")
    path = tmp_path / f"new.{form}"
    new = frame[80:].assign(further=1.0)[
        ["message", "further", "zip", "vip", "joined", "size", *CODES]
    ]
    if form == "csv":
        new.to_csv(path, index=False)
    elif form == "parquet":
        new.to_parquet(path)
    else:
        written = {name: new[name].astype(str) for name in ("joined", *CODES)}
        new.assign(**written).to_json(path, orient="records", lines=True)
    saved = for_files(load_model(tmp_path / "m.skops"))
    assert isinstance(saved, TableModel)
    data = load(path, like=saved, labelled=False)
    expected = model.predict_proba(frame[80:])
    np.testing.assert_allclose(saved.model.predict_proba(data.X), expected, rtol=1e-8)
    assert data.feature_names.tolist() == saved.feature_names.tolist()


@pytest.mark.parametrize(("name", "reason"), [("blend", "neighbours"), ("pipeline", "zip=")])
def test_the_commands_read_models_of_python(table, name, reason, tmp_path, capsys):
    frame, labels = table
    model = MODELS[name]().fit(frame[:80], labels[:80])
    save_model(model, tmp_path / "m.skops")
    frame[80:].join(labels[80:]).to_csv(tmp_path / "new.csv", index=False)
    files = [str(tmp_path / "m.skops"), str(tmp_path / "new.csv")]
    assert main(["predict", *files, "-o", str(tmp_path / "out.csv")]) == 0
    with open(tmp_path / "out.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    decided = model.predict(frame[80:])
    names = list(labels.columns)
    expected = ["|".join(np.array(names)[row > 0]) for row in np.asarray(decided)]
    assert [row["labels"] for row in rows] == expected
    assert main(["evaluate", *files, "--labels", "near,slow,large"]) == 0
    assert "f1_macro" in capsys.readouterr().out
    assert main(["explain", *files, "--sample", "1", "--label", "near"]) == 0
    assert reason in capsys.readouterr().out
    page = tmp_path / "p.html"
    labelled = ["--data", files[1], "--labels", "near,slow,large"]
    assert main(["report", files[0], *labelled, "-o", str(page)]) == 0
    assert "near" in page.read_text()


def test_a_model_of_texts_reads_the_column_of_texts(table, tmp_path):
    frame, labels = table
    texts = frame["message"].tolist()
    model = MultilabelBlend(["linear"], random_state=0).fit(texts[:80], labels[:80])
    saved = for_files(SavedModel(model, np.array(["0"]), labels.columns.to_numpy(dtype=str)))
    expected = model.predict_proba(texts[80:])
    for columns in (["message"], ["zip", "size", "message"], ["message", "text"]):
        new = frame[80:].assign(text=frame["message"])[columns]
        new.to_csv(tmp_path / "new.csv", index=False)
        data = load(tmp_path / "new.csv", like=saved, labelled=False)
        np.testing.assert_allclose(saved.model.predict_proba(data.X), expected, rtol=1e-8)
    frame[80:][["zip"]].to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(ValueError, match="no columns of texts: call one 'text'"):
        load(tmp_path / "new.csv", like=saved, labelled=False)


def test_a_missing_column_is_named(table, tmp_path):
    frame, labels = table
    model = MODELS["pipeline"]().fit(frame, labels)
    save_model(model, tmp_path / "m.skops")
    frame.drop(columns="zip").to_csv(tmp_path / "new.csv", index=False)
    saved = for_files(load_model(tmp_path / "m.skops"))
    with pytest.raises(ValueError, match=r"new\.csv.*X has no column 'zip'"):
        load(tmp_path / "new.csv", like=saved, labelled=False)


def test_other_models_stay_as_they_are():
    X, Y = np.random.default_rng(0).standard_normal((40, 3)), np.eye(2, dtype=int)[[0, 1] * 20]
    for model in (SharedSubspaceClassifierCV(cv=3), MultilabelBlend(["linear"])):
        saved = SavedModel(model.fit(X, Y), np.array(list("abc")), np.array(["p", "q"]))
        assert for_files(saved) is saved


def test_pipelines_of_a_blend_need_frames(table):
    frame, labels = table
    own = make_pipeline(TablePreparation(), SharedSubspaceClassifierCV(cv=3))
    model = MultilabelBlend([("own", own)], weights="equal").fit(frame, labels)
    names = np.array(list(frame.columns)), np.array(list(labels.columns))
    with pytest.raises(ValueError, match="member 'own' of the blend is a pipeline that reads a"):
        for_files(SavedModel(model, *names))
