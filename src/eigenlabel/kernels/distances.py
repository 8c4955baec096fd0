"""Distances of views, of all views together and in strips, and the neighbours they give."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import (
    additive_chi2_kernel,
    cosine_distances,
    manhattan_distances,
)

from eigenlabel.inputs.validation import check_choice
from eigenlabel.inputs.views import (
    FittedTable,
    Views,
    ViewsMixin,
    as_float,
    is_precomputed,
)
from eigenlabel.kernels.rounding import metric_rounding
from eigenlabel.linalg.euclidean import EuclideanDistances
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.linalg.ties import Rounding, nearest_first, tied_order

HISTOGRAMS = ("chi2", "kl")  # dense, with values >= 0
ROUNDING = np.sqrt(np.finfo(float).eps)  # of a callable's distances, as one less a cosine
FLOOR = 1e-10  # least share of a bin under "kl", whose logarithm must exist


def chi2_distances(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Give ``sum_k (x_k - z_k)^2 / (x_k + z_k)`` of all pairs of histograms."""
    return -additive_chi2_kernel(X, Z)


def _shares(X: np.ndarray) -> np.ndarray:
    """Scale rows to sum one, no bin below FLOOR; a row of zeros becomes uniform."""
    total = X.sum(axis=1, keepdims=True)
    P = X / np.where(total > 0, total, 1.0) + FLOOR
    return P / P.sum(axis=1, keepdims=True)


def kl_divergences(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Give ``sum_k x_k log(x_k / z_k)`` of all pairs of histograms, rows scaled to sum one."""
    P, Q = _shares(X), _shares(Z)
    own = (P * np.log(P)).sum(axis=1, keepdims=True)
    return np.maximum(own - P @ np.log(Q).T, 0.0)


def euclidean_distances(X: Any, Z: Any) -> np.ndarray:
    """Return ``|x - z|`` of all pairs of samples."""
    return EuclideanDistances(Z)(X)


FUNCTIONS: dict[str, Callable[[Any, Any], np.ndarray]] = {
    "euclidean": euclidean_distances,
    "l2": euclidean_distances,
    "manhattan": manhattan_distances,
    "l1": manhattan_distances,
    "cosine": cosine_distances,
    "chi2": chi2_distances,
    "kl": kl_divergences,
}


@dataclass
class DistanceView(FittedTable):
    """What distances in one view need.

    Attributes
    ----------
    metric : name of a distance, or a callable that takes two matrices
    rows : training samples that the view has
    scale : what distances are divided by
    """

    metric: Any = "euclidean"
    rows: np.ndarray | None = None
    scale: float = 1.0

    def distances(self, samples: Any) -> np.ndarray:
        """Give the distances (samples, training samples of the view) of prepared samples."""
        if is_precomputed(self.metric):
            return _unlisted_far(samples) if sp.issparse(samples) else samples
        function = FUNCTIONS[self.metric] if isinstance(self.metric, str) else self.metric
        D = np.asarray(function(samples, self.X), dtype=float)
        if D.shape != (samples.shape[0], self.X.shape[0]):
            raise ValueError(
                "A callable metric takes two matrices and gives the distances of their rows: "
                f"expected shape {(samples.shape[0], self.X.shape[0])}, got {D.shape}."
            )
        if not np.isfinite(D).all() or D.min(initial=0) < -ROUNDING * D.max(initial=0):
            worst = D.min() if np.isfinite(D).all() else D[~np.isfinite(D)][0]
            raise ValueError(
                f"Distances are finite and >= 0, but metric={self.metric!r} gives {worst:.3g}."
            )
        return np.maximum(D, 0.0)

    def rounding(self, samples: Any, rows: np.ndarray, n: int, dtype: Any) -> Rounding:
        """Return the bound on rounding of the scaled distances of n rows, some of them samples."""
        bound = metric_rounding(self.metric, samples, dtype)
        absolute, root = np.zeros((n, 1)), np.zeros((n, 1))
        absolute[rows], root[rows] = bound.absolute, bound.root
        return Rounding(absolute / self.scale, bound.relative, root / np.sqrt(self.scale))

    def settle_scale(self, samples: Any, rule: str) -> None:
        """Divide by the largest distance of training samples, or by their mean one.

        Infinite distances do not count. n^2 distances, in strips.
        """
        largest, total, count = 0.0, 0.0, 0
        for part in row_blocks(samples.shape[0], samples.shape[0]):
            D = self.distances(samples[part])
            if not np.isfinite(D.max(initial=0.0)):
                D = D[np.isfinite(D)]
            largest = max(largest, float(D.max(initial=0.0)))
            total, count = total + float(D.sum()), count + D.size
        scale = largest if rule == "largest" else total / max(count, 1)
        self.scale = scale if scale > 0 else 1.0


def _unlisted_far(D: Any) -> np.ndarray:
    """Give sparse distances densely; pairs that are not stored are infinitely far."""
    full = np.full(D.shape, np.inf)
    rows = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    full[rows, D.indices] = D.data
    return full


@dataclass(frozen=True)
class Neighbours:
    """The nearest training samples of some samples, nearest first.

    Attributes
    ----------
    index : (samples, k)
    there : (samples, k), False where a sample has fewer neighbours
    distances : (views, samples, k), scaled; zero where there is no neighbour
    """

    index: np.ndarray
    there: np.ndarray
    distances: np.ndarray

    def __getitem__(self, rows: np.ndarray) -> "Neighbours":
        """Give those of some samples."""
        return Neighbours(self.index[rows], self.there[rows], self.distances[:, rows])


def mean_over_views(D: np.ndarray) -> np.ndarray:
    """Average distances (views, samples, n) over the views that both have; infinite if none."""
    if len(D) == 1:
        return np.where(np.isnan(D[0]), np.inf, D[0])
    lacking = np.isnan(D)
    if not lacking.any():
        return D.mean(axis=0)
    counts = (~lacking).sum(axis=0)
    total = np.where(lacking, 0.0, D).sum(axis=0)
    return np.where(counts > 0, total / np.maximum(counts, 1), np.inf)


Chooser = Callable[[np.ndarray, int, Sequence[Rounding]], np.ndarray]


def rounding_of_mean(roundings: Sequence[Rounding]) -> Rounding:
    """Return the bound for the mean over any of the views: the largest one."""
    absolute, root = (
        np.maximum.reduce(np.broadcast_arrays(*(getattr(one, name) for one in roundings)))
        for name in ("absolute", "root")
    )
    return Rounding(absolute, max(one.relative for one in roundings), root)


def nearest_by_mean(D: np.ndarray, k: int, roundings: Sequence[Rounding]) -> np.ndarray:
    """Return the neighbours (samples, k) by the mean distance of the views, nearest first."""
    return nearest_first(mean_over_views(D), k, rounding_of_mean(roundings))


def nearest_by_rank(D: np.ndarray, k: int, roundings: Sequence[Rounding]) -> np.ndarray:
    """Return k samples that are among the nearest in some view: all first ones, all second ones.

    Pairs that some view has infinitely far are left out. They are listed by the mean distance.
    """
    mean = mean_over_views(D)
    far = np.where(np.isnan(D) | np.isinf(mean), np.inf, D)
    ranked = np.stack(
        [nearest_first(view, k, one) for view, one in zip(far, roundings, strict=True)], axis=2
    )  # (samples, k, views)
    finite = np.take_along_axis(np.moveaxis(far, 0, 2), ranked, axis=1) < np.inf
    found = np.empty((D.shape[1], k), dtype=np.intp)
    for i, (row, usable) in enumerate(zip(ranked, finite, strict=True)):
        line = np.concatenate([row[usable], row[~usable]])  # row-major: by rank, then view
        _, first = np.unique(line, return_index=True)
        found[i] = np.sort(line[np.sort(first)[:k]])
    values = np.take_along_axis(mean, found, axis=1)
    order = tied_order(values, rounding_of_mean(roundings).at(values))
    return np.take_along_axis(found, order, axis=1)


class ViewDistancesMixin(ViewsMixin):
    """Settle a distance per view. Expects the parameters metric, views, transformers."""

    _measure = "metric"
    _sparse_pairs = True

    def _fit_distances(self, views: Views) -> None:
        """Fit ``views_``, with a scale of one."""
        self._n = len(views)
        metrics, transformers = self._measures(), self._fresh_transformers()
        for metric in metrics.values():
            if not callable(metric):
                check_choice("metric", metric, (*FUNCTIONS, "precomputed"))
        self.views_ = {}
        for name, table, here in self._training_tables(views):
            rows, transformer = np.flatnonzero(here), transformers.get(name)
            fitted = DistanceView(table.shape[1], transformer, metric=metrics[name], rows=rows)
            if is_precomputed(metrics[name]):
                self._check_pairs(name, table, views.rows[here], transformer)
                fitted.columns = views.rows[here]
            elif transformer is not None:
                transformer.fit(table)
            samples = self._checked_samples(fitted, table, name)
            if fitted.columns is None:
                fitted.X = samples
            self.views_[name] = fitted

    def _settle_scales(self, views: Views, rule: str) -> None:
        """Scale each view's distances by their "largest" or "mean" one in training."""
        for name, table, _ in self._tables(views):
            fitted = self.views_[name]
            fitted.settle_scale(self._checked_samples(fitted, table, name), rule)

    def _checked_samples(self, fitted: DistanceView, table: Any, name: str) -> Any:
        """Give the samples of one view as its distance takes them."""
        samples = as_float(fitted.prepare(table, name))
        histogram = isinstance(fitted.metric, str) and fitted.metric in HISTOGRAMS
        if histogram and sp.issparse(samples):
            raise ValueError(
                f"metric={fitted.metric!r} of view {name!r} takes dense features: use "
                "'manhattan', or pass the view with toarray()."
            )
        values = samples.data if sp.issparse(samples) else samples
        if (histogram or fitted.columns is not None) and values.min(initial=0) < 0:
            what = "Distances" if fitted.columns is not None else "Histograms"
            raise ValueError(
                f"{what} are >= 0, but view {name!r} (metric={fitted.metric!r}) holds "
                f"{values.min():.3g}."
            )
        return samples

    def _distance_strips(
        self, views: Views, *, training: bool = False
    ) -> Iterator[tuple[slice, np.ndarray, list[Rounding]]]:
        """Yield rows, their scaled distances (views, rows, n) to the training samples, roundings.

        Distances are NaN where a view lacks either sample, and infinite from a training sample to
        itself.
        """
        tables = []
        for name, table, here in self._tables(views):
            fitted = self.views_[name]
            samples = None if table is None else self._checked_samples(fitted, table, name)
            tables.append((fitted, samples, here))
        for part in row_blocks(len(views), len(tables) * self._n):
            D = np.full((len(tables), part.stop - part.start, self._n), np.nan)
            roundings = []
            for strip, (fitted, samples, here) in zip(D, tables, strict=True):
                inside = np.flatnonzero(here[part])
                if not len(inside):
                    roundings.append(Rounding(np.zeros((len(strip), 1))))
                    continue
                before = int(here[: part.start].sum())
                own = samples[before : before + len(inside)]
                roundings.append(fitted.rounding(own, inside, len(strip), self._dtype))
                found = fitted.distances(own)
                whole = len(inside) == len(strip) and len(fitted.rows) == self._n
                target = ... if whole else np.ix_(inside, fitted.rows)
                strip[target] = found / fitted.scale
            if training:
                own = np.arange(part.stop - part.start)
                D[:, own, part.start + own] = np.inf
            yield part, D, roundings

    def _neighbours(
        self,
        views: Views,
        k: int,
        choose: Chooser = nearest_by_mean,
        *,
        training: bool = False,
    ) -> Neighbours:
        """Find the k nearest training samples; distances that a view lacks are the mean ones."""
        k = min(k, self._n - training)
        index, there, distances = [], [], []
        for _, D, roundings in self._distance_strips(views, training=training):
            found = choose(D, k, roundings)
            near = np.stack([np.take_along_axis(view, found, axis=1) for view in D])
            mean = mean_over_views(near)
            near = np.where(np.isnan(near), mean, near)
            finite = np.isfinite(near).all(axis=0)
            index.append(found)
            there.append(finite)
            distances.append(np.where(finite, near, 0.0))
        return Neighbours(
            np.concatenate(index), np.concatenate(there), np.concatenate(distances, axis=1)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        metrics = self.metric if isinstance(self.metric, Mapping) else {"": self.metric}
        histogram = any(isinstance(m, str) and m in HISTOGRAMS for m in metrics.values())
        tags.input_tags.pairwise = self._one_precomputed()
        tags.input_tags.positive_only = histogram
        tags.input_tags.sparse = not histogram
        tags.input_tags.allow_nan = self.views is not None
        tags.target_tags.required = True
        return tags
