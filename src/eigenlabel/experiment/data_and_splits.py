"""The samples of a protocol: data files are found, loaded and split."""

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from eigenlabel import datasets
from eigenlabel.datasets import DataError, Dataset, data_folder, find, known
from eigenlabel.datasets.registry import owner
from eigenlabel.experiment.protocol import Data, Protocol, Splits
from eigenlabel.linalg._types import Ints, Matrix
from eigenlabel.model_selection import MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit
from eigenlabel.preprocessing import drop_rare

TRAIN_SHARE = 2 / 3
MAX_DRAWS = 10_000
Rows = tuple[Ints, Ints]  # training rows, test rows


def find_file(path: str, folder: Path) -> Path:
    """Return the path of a data file in a folder or in the folder of data sets.

    The name of a known data set stands for its first file.
    """
    places = [folder / path, data_folder() / path]
    for place in places:
        if place.is_file():
            return place
    if path in known():
        return find(path)[0]
    entry = owner(path)
    advice = f", a file of {entry.name}. {entry.advice()}" if entry else ""
    if not entry and (close := get_close_matches(path, known(), n=1)):
        advice = f"; did you mean the data set {close[0]}?"
    raise DataError(path, f"no such file, neither {places[0]} nor {places[1]}{advice}")


def load_data(data: Data, folder: Path = Path()) -> Dataset:
    """Load a data set of a protocol, without its rare labels and features.

    Parameters
    ----------
    data : Data
        The data set.
    folder : Path, default=Path()
        Folder in which the paths of data files are searched first.

    Returns
    -------
    Dataset
        The samples that the protocol uses, before they are split.

    Examples
    --------
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.experiment import Data, load_data
    >>> planted = make_shared_subspace(random_state=0)
    >>> load_data(Data("planted", planted, max_samples=50)).X.shape[0]
    50
    """
    found = _load(data, folder)
    if data.min_positives or data.min_documents:
        kept = drop_rare(
            found.X, found.Y, min_positives=data.min_positives, min_documents=data.min_documents
        )
        columns = [str(name) in found.column_types for name in found.feature_names]
        features = np.union1d(kept.features, np.flatnonzero(columns))  # only words can be rare
        found = found.subset(samples=kept.samples, features=features, labels=kept.labels)
    if 0 < data.max_samples < found.X.shape[0]:
        drawn = np.random.default_rng(0).permutation(found.X.shape[0])[: data.max_samples]
        found = found.subset(samples=np.sort(drawn))
    if not all((*found.X.shape, found.Y.shape[1])):
        raise ValueError(f"Nothing is left of {data.name}: {found!r}.")
    return found


def training_kernels(
    found: Dataset, train: Ints, test: Ints
) -> tuple[Matrix, Matrix, dict[str, slice]]:
    """Return the kernel values of training and of test samples with the training samples.

    X holds one kernel matrix of all samples, or one for each view, side by side. So do the results,
    whose views are returned as well; they are empty if there is one matrix without a name.
    """
    n, width = found.X.shape
    views = dict(found.views) or {"": slice(0, width)}
    for name, columns in views.items():
        size = len(range(*columns.indices(width)))
        if size != n:
            where = f"view {name!r}" if name else "X"
            raise ValueError(
                f"precomputed=True needs a kernel matrix of all samples: {where} has {size} "
                f"columns for {n} samples."
            )
    with_training = np.concatenate([np.arange(width)[c][train] for c in views.values()])
    size = len(train)
    places = {name: slice(k * size, (k + 1) * size) for k, name in enumerate(views)}
    shown = places if found.views else {}
    return found.X[train][:, with_training], found.X[test][:, with_training], shown


def _load(data: Data, folder: Path) -> Dataset:
    if isinstance(data.source, Dataset):
        return data.source
    if data.source == "debtags":
        return datasets.load_debtags(**data.options)
    if isinstance(data.source, str):
        return datasets.load(find_file(data.source, folder), **data.options)
    if len(data.source) != 2:
        raise ValueError(f"{data.name}: pass one file, or two for training and test.")
    train, test = (find_file(path, folder) for path in data.source)
    first = datasets.load(train, **data.options)
    return _stack(first, datasets.load(test, like=first, **data.options))


def _stack(train: Dataset, test: Dataset) -> Dataset:
    """Append the test samples to the training samples; the published split separates them."""
    n, total = train.X.shape[0], train.X.shape[0] + test.X.shape[0]
    both = (train.X, test.X)
    return replace(
        train,
        X=sp.csr_array(sp.vstack(both)) if sp.issparse(train.X) else np.vstack(both),
        Y=sp.csr_array(sp.vstack([train.Y, test.Y])),
        sample_names=None,
        splits={"published": (np.arange(n), np.arange(n, total))},
    )


def draw_splits(data: Dataset, spec: Splits, seed: int) -> list[Rows]:
    """Split a data set into training and test samples.

    Parameters
    ----------
    data : Dataset
        The data set.
    spec : Splits
        How samples are split.
    seed : int
        Seed of the splits. More splits with the same seed begin with the same splits, unless
        they are folds.

    Returns
    -------
    list of (training rows, test rows)
        Positions of samples, one pair for each split.

    Examples
    --------
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.experiment import Splits, draw_splits
    >>> data = make_shared_subspace(90, random_state=0)
    >>> [(len(train), len(test)) for train, test in draw_splits(data, Splits("random", 2), 0)]
    [(60, 30), (60, 30)]
    """
    if spec.kind == "published":
        if not data.splits:
            raise ValueError(f"No published splits in {data.source}; use another kind.")
        return list(data.splits.values())[: spec.n_splits]
    Y = to_dense(data.Y)
    rows = np.zeros((len(Y), 1))
    if spec.kind == "folds":
        folds = MultilabelStratifiedKFold(spec.n_splits, shuffle=True, random_state=seed)
        return list(folds.split(rows, Y))
    size = TRAIN_SHARE if spec.train_size is None else spec.train_size
    if spec.kind == "shuffle":
        draws = MultilabelStratifiedShuffleSplit(spec.n_splits, train_size=size, random_state=seed)
        return list(draws.split(rows, Y))
    count = round(size * len(Y)) if size < 1 else int(size)
    if not 0 < count < len(Y):
        raise ValueError(f"train_size {size} of {len(Y)} samples leaves one side empty.")
    return [_draw_with_every_label(Y, count, seed + k) for k in range(spec.n_splits)]


def _draw_with_every_label(Y: Matrix, count: int, seed: int) -> Rows:
    """Draw training samples until every label has a positive among them."""
    rng = np.random.default_rng(seed)
    for _ in range(MAX_DRAWS):
        order = rng.permutation(len(Y))
        if Y[order[:count]].any(axis=0).all():
            return order[:count], order[count:]
    raise ValueError(
        f"In {MAX_DRAWS} draws of {count} samples some label never had a positive: drop rare "
        "labels (min_positives) or use stratified splits (kind = 'shuffle')."
    )


def count_splits(protocol: Protocol, data: Data) -> int:
    """Return the number of splits to run; a data set may have fewer published ones."""
    spec, count = protocol.splits, protocol.splits.n_splits
    if spec.kind == "published":
        count = len(draw_splits(_load(data, protocol.folder), spec, protocol.seed))
    return count if spec.at_most is None else min(count, spec.at_most)


def to_dense(Y: Matrix) -> Matrix:
    """Return a label matrix as a dense array."""
    return Y.toarray() if hasattr(Y, "toarray") else np.asarray(Y)
