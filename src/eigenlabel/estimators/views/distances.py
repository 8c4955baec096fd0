"""The distances of each view, and the nearest neighbours by the distances of all views."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.estimators.views.tables import (
    FittedTable,
    as_float,
    check_pairs,
    fresh_transformers,
    view_tags,
)
from eigenlabel.inputs.parameters import ByView, Choice, OrCallable
from eigenlabel.inputs.views import Layout, Part, is_precomputed, per_view
from eigenlabel.kernels.distances import HISTOGRAMS, METRICS, distances_to
from eigenlabel.kernels.neighbours import (
    Chooser,
    Neighbours,
    exclude_self,
    mean_over_views,
    nearest_by_mean,
)
from eigenlabel.kernels.rounding import metric_rounding
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.operators import is_sparse, row_blocks
from eigenlabel.linalg.ties import Rounding

METRIC = ByView(OrCallable(Choice(*METRICS, "precomputed")))  # the declaration of metric


@dataclass(kw_only=True)
class DistanceView(FittedTable):
    """What distances to the training samples of one view need.

    Attributes
    ----------
    metric : str or callable
        The name of a distance, or a function of two matrices.
    rows : (n_view_samples,) array of int
        The training samples that the view has.
    scale : float
        What distances are divided by.
    """

    metric: Any
    rows: Ints
    scale: float = 1.0

    def prepare(self, part: Part) -> Any:
        """Select and transform the columns of a table as in fit, and check them for the metric."""
        samples = as_float(super().prepare(part))
        histogram = isinstance(self.metric, str) and self.metric in HISTOGRAMS
        if histogram and is_sparse(samples):
            raise ValueError(
                f"metric={self.metric!r} of view {part.name!r} needs dense features: use "
                "'manhattan', or pass the view with toarray()."
            )
        values = samples.data if is_sparse(samples) else samples
        if (histogram or self.columns is not None) and values.min(initial=0) < 0:
            what = "Distances" if self.columns is not None else "Histograms"
            raise ValueError(
                f"{what} are >= 0, but view {part.name!r} (metric={self.metric!r}) contains "
                f"{values.min():.3g}."
            )
        return samples

    def measure(self) -> Callable[[Any], Floats]:
        """Return the function of prepared samples that computes their distances, not scaled."""
        if is_precomputed(self.metric):
            return _unlisted_far
        return distances_to(self.X, self.metric)

    def rounding(self, samples: Any, rows: Ints, n: int, dtype: Any) -> Rounding:
        """Return the bound on rounding of the scaled distances of n rows, some of them samples."""
        bound = metric_rounding(self.metric, samples, dtype)
        absolute, root = np.zeros((n, 1)), np.zeros((n, 1))
        absolute[rows], root[rows] = bound.absolute, bound.root
        return Rounding(absolute / self.scale, bound.relative, root / np.sqrt(self.scale))

    def settle_scale(self, samples: Any, rule: str) -> None:
        """Divide by the "largest" distance of training samples, or by their "mean" one.

        Infinite distances do not count. Cost: n^2 distances, in strips.
        """
        largest, total, count = 0.0, 0.0, 0
        measure = self.measure()
        for part in row_blocks(samples.shape[0], samples.shape[0]):
            D = measure(samples[part])
            if not np.isfinite(D.max(initial=0.0)):
                D = D[np.isfinite(D)]
            largest = max(largest, float(D.max(initial=0.0)))
            total, count = total + float(D.sum()), count + D.size
        scale = largest if rule == "largest" else total / max(count, 1)
        self.scale = scale if scale > 0 else 1.0


def _unlisted_far(D: Any) -> Floats:
    """Return distances as a dense matrix; pairs that are not stored are infinitely far."""
    if not is_sparse(D):
        return np.asarray(D)
    full = np.full(D.shape, np.inf)
    rows = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    full[rows, D.indices] = D.data
    return full


@dataclass(frozen=True)
class ViewDistances:
    """The distances of new samples to training samples, by view.

    Attributes
    ----------
    views : dict of DistanceView
        The fitted views by name.
    n_samples : int
        The number of training samples.
    dtype : numpy dtype
        The precision of the data.
    """

    views: dict[str, DistanceView]
    n_samples: int
    dtype: "np.dtype[Any]"

    def settle_scales(self, training: Sequence[Part], rule: str) -> None:
        """Scale the distances of each view by their "largest" or "mean" one in training."""
        for part in training:
            view = self.views[part.name]
            view.settle_scale(view.prepare(part), rule)

    def strips(
        self, parts: Sequence[Part], *, training: bool = False
    ) -> Iterator[tuple[slice, Floats, list[Rounding]]]:
        """Yield rows, their scaled distances (views, rows, n) to the training samples, roundings.

        Distances are NaN if either sample is missing in a view, and infinite from a training sample
        to itself.
        """
        n, length = self.n_samples, len(parts[0].here)
        tables = [self._table(part) for part in parts]
        for rows in row_blocks(length, len(parts) * n):
            D = np.full((len(parts), rows.stop - rows.start, n), np.nan)
            roundings = []
            for strip, part, (view, samples, measure) in zip(D, parts, tables, strict=True):
                inside = np.flatnonzero(part.here[rows])
                if not len(inside):
                    roundings.append(Rounding(np.zeros((len(strip), 1))))
                    continue
                before = int(part.here[: rows.start].sum())
                own = samples[before : before + len(inside)]
                roundings.append(view.rounding(own, inside, len(strip), self.dtype))
                whole = len(inside) == len(strip) and len(view.rows) == n
                target: Any = ... if whole else np.ix_(inside, view.rows)
                strip[target] = measure(own) / view.scale
            if training:
                exclude_self(D, rows)
            yield rows, D, roundings

    def _table(self, part: Part) -> tuple[DistanceView, Any, Callable[[Any], Floats]]:
        """Return the fitted view of a part, its prepared samples and the function of distances."""
        view = self.views[part.name]
        return view, None if part.table is None else view.prepare(part), view.measure()

    def nearest(
        self,
        parts: Sequence[Part],
        k: int,
        choose: Chooser = nearest_by_mean,
        *,
        training: bool = False,
    ) -> Neighbours:
        """Find the k nearest training samples.

        If one of two samples is missing in a view, the mean distance over the other views is used.
        """
        k = min(k, self.n_samples - training)
        index, there, distances = [], [], []
        for _, D, roundings in self.strips(parts, training=training):
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


def fit_distances(
    parts: Sequence[Part], layout: Layout, metric: Any, transformers: Any
) -> ViewDistances:
    """Fit the transformer of each view; return the distances, not scaled."""
    metrics = per_view("metric", metric, layout.names)
    fresh = fresh_transformers(transformers, layout.names)
    views = {}
    for part in parts:
        name, transformer = part.name, fresh.get(part.name)
        width = part.table.shape[1]
        view = views[name] = DistanceView(width, transformer, metric=metrics[name], rows=part.rows)
        if name in layout.pairs:
            check_pairs("metric", part, transformer)
            view.columns = part.source
            view.prepare(part)
        else:
            if transformer is not None:
                transformer.fit(part.table)
            view.X = view.prepare(part)
    return ViewDistances(views, layout.n_samples, layout.dtype)


def view_distance_tags(tags: Any, columns: Any, metric: Any) -> Any:
    """Set the tags of an estimator that depend on the metrics of its views, and return them."""
    tags = view_tags(tags, columns, metric, HISTOGRAMS, dense=HISTOGRAMS)
    tags.target_tags.required = True
    return tags
