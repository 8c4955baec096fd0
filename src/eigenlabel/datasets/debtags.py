"""The embedded data set: the packages of Debian 12 and their tags."""

from importlib.resources import as_file, files

import numpy as np

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.forms.npz.reader import load_npz
from eigenlabel.inputs.parameters import check_number


def load_debtags(*, min_positives: int = 20) -> Dataset:
    """Return the packages of Debian 12 with their debtags, in three views.

    Labels are ``facet::tag`` names that people assigned to the packages, such as
    ``implemented-in::python`` or ``works-with::image``. The views are counts: "words" in the name
    and short description of the package, "depends" for the packages it depends on, "section" for
    its section of the archive. Words, dependencies and sections of fewer than three packages are
    left out, and so are the marks ``::TODO`` and ``special::``, which record the progress of
    tagging. ``splits["by source"]`` keeps the packages that are built from one source package on
    one side.

    Parameters
    ----------
    min_positives : int, default=20
        Labels with fewer packages are left out, and then packages without a label.

    Returns
    -------
    data : Dataset
        The packages, with sparse X and Y.

    Examples
    --------
    >>> from eigenlabel.datasets import load_debtags
    >>> data = load_debtags()
    >>> data
    Dataset(29808 samples, 13572 features, 364 labels, 3 views; Debian 12 packages ...)
    >>> package = data.sample_names.tolist().index("gimp")
    >>> data.label_names[data.Y[[package]].indices][:3].tolist()
    ['field::arts', 'implemented-in::c', 'interface::graphical']
    """
    check_number("min_positives", min_positives, 0, integer=True)
    with as_file(files("eigenlabel.datasets") / "debtags.npz") as path:
        data = load_npz(path)
    labels = np.flatnonzero(data.Y.sum(axis=0) >= min_positives)
    samples = np.flatnonzero(data.Y[:, labels].sum(axis=1))
    kept = data.subset(samples=samples, labels=labels)
    kept.X.data = kept.X.data.astype(float)
    return kept
