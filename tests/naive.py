"""Naive oracles of probabilities and of the rules that read them, written out loop by loop."""

import itertools
import math

import numpy as np


def sigmoid(z):
    return 1 / (1 + math.exp(-z)) if z > -700 else 0.0


def softplus(z):
    return math.log1p(math.exp(-abs(z))) + max(z, 0.0)


def bin_samples(scores, weights, positive, k):
    """Return the bins (score, weight, positives) of one label, negatives first, one by one."""
    found = []
    for kind in (False, True):
        rows = [i for i in range(len(scores)) if weights[i] > 0 and positive[i] == kind]
        rows.sort(key=lambda i: scores[i])
        total, below, d = sum(weights[i] for i in rows), 0.0, 0.5 / max(len(rows), 1)
        bins = [[] for _ in range(k)]
        for i in rows:
            q = (below + weights[i] / 2) / total
            below += weights[i]
            x = 0.5 + math.log((q + d) / (1 - q + d)) / (2 * math.log((1 + d) / d))
            bins[min(max(int(k * x + 1e-9), 0), k - 1)].append(i)
        for inside in bins:
            w = sum(weights[i] for i in inside)
            mean = sum(weights[i] * scores[i] for i in inside) / w if inside else 0.0
            found.append((mean, w, w * kind))
    return np.array(found).T


def log_loss(pair, scores, weights, positives):
    """Return the log-loss of one logistic map, its gradient (2,) and its Hessian (2, 2)."""
    value, g, H = 0.0, np.zeros(2), np.zeros((2, 2))
    for t, w, y in zip(scores, weights, positives, strict=True):
        z, x = pair[0] * t + pair[1], np.array([t, 1.0])
        p = sigmoid(z)
        value += w * softplus(z) - y * z
        g += (w * p - y) * x
        H += w * p * (1 - p) * np.outer(x, x)
    return value, g, H


def full(H):
    """Return the 2 x 2 matrix of its entries (aa, ab, bb)."""
    return np.array([[H[0], H[1]], [H[1], H[2]]])


def isotonic(values, weights):
    """Return the isotonic regression by the max-min formula."""
    n = len(values)

    def mean(i, j):
        return np.average(values[i : j + 1], weights=weights[i : j + 1])

    return np.array(
        [max(min(mean(i, j) for j in range(k, n)) for i in range(k + 1)) for k in range(n)]
    )


def expected_f1(p, chosen, zero_division=0.0):
    """Return the expected F1 of a label set under independent labels, over all true sets."""
    m, total = len(p), 0.0
    for truth in itertools.product((0, 1), repeat=m):
        probability = math.prod(q if y else 1 - q for q, y in zip(p, truth, strict=True))
        hits = sum(a * b for a, b in zip(chosen, truth, strict=True))
        size = sum(chosen) + sum(truth)
        total += probability * (2 * hits / size if size else zero_division)
    return total


def losses(P, Y, observed, cut):
    """Return the mean share of missed labels, of wrong labels, and of wrong ones where any are.

    Samples without an observed label are left out.
    """
    missed, wrong, where_any = [], [], []
    for p, y, o in zip(P, Y, observed, strict=True):
        if not any(o):
            continue
        truth = {j for j in range(len(p)) if o[j] and y[j]}
        found = {j for j in range(len(p)) if o[j] and p[j] > cut}
        missed.append(len(truth - found) / len(truth) if truth else 0.0)
        wrong.append(len(found - truth) / len(found) if found else 0.0)
        if found:
            where_any.append(wrong[-1])
    return missed, wrong, where_any


def p_value(losses, bound):
    """Return the p-value of Hoeffding and Bentkus for losses in [0, 1]."""
    n = len(losses)
    if not n:
        return 1.0
    r = sum(losses) / n
    a = min(r, bound)
    h = (a * math.log(a / bound) if a else 0.0) + (
        (1 - a) * math.log((1 - a) / (1 - bound)) if a < 1 else 0.0
    )
    k = math.ceil(n * r * (1 - 1e-13))
    tail = sum(math.comb(n, i) * bound**i * (1 - bound) ** (n - i) for i in range(k + 1))
    return min(1.0, math.exp(-n * h), math.e * tail)
