"""Dense oracles: the definitions and the papers' own algorithms, written out naively."""

import numpy as np
import scipy.linalg as sl
from sklearn.linear_model import LassoLars
from sklearn.svm import LinearSVC


def ridge(X, T, shift, weights=None, centre=True):
    """Return weights and intercept of the ridge normal equations; minimum norm at shift 0."""
    w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    n = w.sum()
    x, t = ((w @ X) / n, (w @ T) / n) if centre else (np.zeros(X.shape[1]), np.zeros(T.shape[1]))
    A = np.sqrt(w)[:, None] * (X - x)
    b = np.sqrt(w)[:, None] * (T - t)
    if shift == 0:
        U = np.linalg.lstsq(A, b, rcond=None)[0]
    else:
        U = np.linalg.solve(A.T @ A / n + shift * np.eye(X.shape[1]), A.T @ b / n)
    return U, t - x @ U


def paper_ml_ls(X, T, alpha, beta, r):
    """TKDD 2010, Section 3.3 to the letter, on X and T as they are: Theta (r, d) and U (d, m)."""
    n, d = X.shape
    left, s, Vt = np.linalg.svd(X, full_matrices=False)
    t = int((s > s[0] * max(X.shape) * np.finfo(float).eps).sum())
    left, s, V1 = left[:, :t], s[:t], Vt[:t].T
    D1 = s / (s**2 / n + beta)  # Eq. 22
    D2 = s / (s**2 / n + alpha + beta)  # Eq. 23
    D = np.sqrt(D1 / D2)  # Eq. 24
    C = T.T @ left @ np.diag(D2 * D)  # Eqs. 25 and 26
    P2 = np.linalg.svd(C)[2].T
    Q = np.linalg.qr(V1 @ np.diag(D) @ P2)[0]
    Theta = Q[:, :r].T
    M = X.T @ X / n + (alpha + beta) * np.eye(d)  # Eq. 10
    U = np.linalg.solve(M - alpha * Theta.T @ Theta, X.T @ T) / n  # Eq. 9
    return Theta, U


def theorem_5_1(K, T, alpha, beta, r):
    """TKDD 2010, Theorem 5.1 as a generalised eigenproblem, K invertible: fitted values K A."""
    n = len(K)
    N = K @ K / n + (alpha + beta) * K  # Eq. 33
    KNK = K @ np.linalg.solve(N, K)
    S1 = K - alpha * KNK  # Eq. 34
    S2 = K @ np.linalg.solve(N, K @ T @ T.T @ K) @ np.linalg.solve(N, K)  # Eq. 35
    _, Z = sl.eigh((S2 + S2.T) / 2, (S1 + S1.T) / 2)
    Z = Z[:, ::-1][:, :r]
    R = np.linalg.cholesky(Z.T @ K @ Z).T
    B = np.linalg.solve(R.T, Z.T).T  # B'KB = I
    A = np.linalg.solve(N - alpha * K @ B @ B.T @ K, K @ T) / n  # Eq. 39
    return K @ A, B


def objective(X, T, U, Theta, alpha, beta):
    """Eq. 5 at its best V = Theta U."""
    off = U - Theta.T @ (Theta @ U)
    fit = np.sum((X @ U - T) ** 2) / len(X)
    return fit + alpha * np.sum(off**2) + beta * np.sum(U**2)


def projector(A):
    """Return the orthogonal projector on the columns of A."""
    Q = np.linalg.qr(A)[0]
    return Q @ Q.T


def best_thresholds(scores, Y, value, weights=None):
    """Try every cut of one column that does not separate ties; the lowest of the best ones."""
    w = np.ones(len(Y)) if weights is None else weights
    cuts = [-np.inf, *np.unique(scores)]
    figures = [value(w @ ((scores > c) & Y), w @ (scores > c), w @ Y) for c in cuts]
    best = np.flatnonzero(np.array(figures) == max(figures))[0]
    return scores > cuts[best], figures[best]


def equicorrelation(p, rho):
    """Definition 1 of Han et al. (AAAI 2010)."""
    return (1 - rho) * np.eye(p) + rho * np.ones((p, p))


def paper_elastic_net(X, t, l1, l2, rho):
    """Problem (6) of Han et al. by LARS on the (n + p) x p matrix, on X and t as they are."""
    p = X.shape[1]
    lam, Q = np.linalg.eigh(equicorrelation(p, rho))
    root = (Q * np.sqrt(np.maximum(lam, 0))) @ Q.T
    augmented = np.vstack([X, np.sqrt(l2) * root]) / np.sqrt(1 + l2)
    target = np.r_[t, np.zeros(p)]
    gamma = l1 / np.sqrt(1 + l2)
    # scikit-learn has 1 / (2 rows) before the squared error.
    lars = LassoLars(alpha=gamma / (2 * len(target)), fit_intercept=False, max_iter=100_000)
    return lars.fit(augmented, target).coef_ / np.sqrt(1 + l2)


def sda_objective(X, Y, B, theta, l1, l2, rho):
    """Eq. 1 of Han et al., on X and Y as they are."""
    quadratic = np.trace(B.T @ equicorrelation(len(B), rho) @ B)
    return (np.sum((Y @ theta - X @ B) ** 2) + l2 * quadratic + l1 * np.abs(B).sum()) / len(X)


def paper_mtsda(X, Y, theta, l1, l2, rho, steps, exact):
    """Algorithm 2 of Han et al. from a given theta, with either score step; B, theta, objectives.

    X and Y are taken as they are.
    """
    n = len(X)
    B, objectives = None, []
    for k in range(steps):
        if k and exact:
            lam, V = np.linalg.eigh(Y.T @ Y / n)
            D = (V / np.sqrt(lam)) @ V.T
            U, _, Vt = np.linalg.svd(D @ Y.T @ X @ B / n, full_matrices=False)
            theta = D @ U @ Vt
        elif k:
            U, _, Vt = np.linalg.svd(X @ B / np.sqrt(n), full_matrices=False)
            theta = np.sqrt(n) * np.linalg.pinv(Y) @ U @ Vt  # Eq. 9
        B = np.column_stack([paper_elastic_net(X, Y @ t, l1, l2, rho) for t in theta.T])
        objectives.append(sda_objective(X, Y, B, theta, l1, l2, rho))
    return B, theta, np.array(objectives)


def penalised_discriminant_analysis(X, y, l2, omega):
    """Hastie, Buja, Tibshirani (1995): directions, and discriminants of the nearest mean in them.

    Directions solve ``S_B v = lambda (S_W + l2 Omega) v``; in them the metric is the identity.
    """
    X = X - X.mean(axis=0)
    classes = np.unique(y)
    means = np.array([X[y == c].mean(axis=0) for c in classes])
    sizes = np.array([(y == c).sum() for c in classes])
    within = sum((X[y == c] - m).T @ (X[y == c] - m) for c, m in zip(classes, means, strict=True))
    between = (means.T * sizes) @ means
    _, V = sl.eigh(between, within + l2 * omega)
    V = V[:, ::-1][:, : len(classes) - 1]
    Z, M = X @ V, means @ V
    return V, Z @ M.T - 0.5 * (M**2).sum(axis=1)


def masked_ridge(X, T, observed, shift, weights=None, centre=True):
    """Solve each label's ridge regression on its own samples; the penalty is N s for all labels.

    N is the mean weight of a label's samples. Labels without samples have no weights.
    """
    w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    sizes = w @ observed
    N = sizes[sizes > 0].mean()
    U, b = np.zeros((X.shape[1], T.shape[1])), np.full(T.shape[1], -1.0 if centre else 0.0)
    for j in np.flatnonzero(sizes > 0):
        o = observed[:, j] & (w > 0)
        u, intercept = ridge(X[o], T[o, j : j + 1], shift * N / sizes[j], w[o], centre)
        U[:, j], b[j] = u[:, 0], intercept[0]
    return U, b


def masked_intercept(X, T, observed, U, weights=None):
    """Return the intercepts at which each label's residuals sum to zero on its own samples."""
    w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    sizes = w @ observed
    sums = w @ np.where(observed, T - X @ U, 0.0)
    return np.where(sizes > 0, sums / np.where(sizes > 0, sizes, 1), -1.0)


def masked_ml_ls(X, T, observed, alpha, beta, r, weights=None):
    """Shared-subspace least squares of labels with samples of their own: U and intercepts."""
    A = masked_ridge(X, T, observed, beta, weights)[0]
    if np.isinf(alpha):
        large = 1e8  # alpha B is X't / N up to 1e-8 relative
        B, C = np.zeros_like(A), large * masked_ridge(X, T, observed, large, weights)[0]
    else:
        B = C = masked_ridge(X, T, observed, alpha + beta, weights)[0]
    S = A.T @ C
    W = np.linalg.eigh(S + S.T)[1][:, ::-1][:, :r]
    U = B + (A - B) @ W @ W.T
    return U, masked_intercept(X, T, observed, U, weights)


def masked_objective(X, T, observed, U, alpha, beta, r):
    """Return the objective at its best intercepts and subspace, and its gradient in U."""
    N = observed.sum(axis=0)[observed.any(axis=0)].mean()
    R = np.where(observed, X @ U + masked_intercept(X, T, observed, U) - T, 0.0)
    left, s, _ = np.linalg.svd(U, full_matrices=False)
    off = U - left[:, :r] @ (left[:, :r].T @ U)
    value = np.sum(R**2) / N + alpha * np.sum(s[r:] ** 2) + beta * np.sum(U**2)
    return value, 2 * X.T @ R / N + 2 * alpha * off + 2 * beta * U


def with_spectrum(n, d, condition, rng):
    """Draw X whose centred singular values fall from 1 to 1 / condition."""
    k = min(n, d)
    Q = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, min(k, n - 1)))]))[0]
    V = np.linalg.qr(rng.standard_normal((d, d)))[0][:, : Q.shape[1] - 1]
    return Q[:, 1:] * np.logspace(0, -np.log10(condition), Q.shape[1] - 1) @ V.T + 3.0


def true_residuals(factor, T, shifts, found):
    """|b - (A + s) x| / |b| by dense algebra."""
    X = factor.operator.matmat(np.eye(factor.operator.shape[1]))
    w = np.ones(len(X)) if factor.operator.weights is None else factor.operator.weights
    Tc = T - w @ T / w.sum() if factor.centre else T
    b = X.T @ (w[:, None] * Tc)
    A = X.T @ (w[:, None] * X)
    left = [b - A @ x - w.sum() * s * x for s, x in zip(shifts, found, strict=True)]
    return np.linalg.norm(left, axis=1) / np.linalg.norm(b, axis=0)


def labels_of(X, rng, m=4):
    """Draw labels that depend on X, each for 40% of the samples."""
    scores = X @ rng.standard_normal((X.shape[1], m)) + rng.standard_normal((len(X), m))
    return (scores > np.quantile(scores, 0.6, axis=0)).astype(int)


def centre(A):
    """Subtract the mean of each column."""
    return A - A.mean(axis=0)


def draw_labels(n, rng, m=5):
    """Draw labels that do not depend on anything; no label is constant."""
    Y = (rng.uniform(size=(n, m)) < 0.4).astype(int)
    Y[0], Y[1] = 1, 0
    return Y


def with_equal_first_label_sets(rng):
    """Draw data whose first label sets are equal, which the start of Han et al. (2010) needs."""
    X = rng.standard_normal((200, 10))
    Y = (X[:, :4] + rng.standard_normal((200, 4)) > 0).astype(int)
    Y[:4] = [1, 0, 1, 0]  # the paper's start has one independent column
    return X, Y


def labels(n, m, rng, X=None):
    """Return a random label matrix (n, m) without constant labels; X makes it predictable."""
    Y = rng.uniform(size=(n, m)) < 0.4
    if X is not None:
        Y ^= (X[:, :1] > np.median(X[:, 0])) & (rng.uniform(size=(n, m)) < 0.5)
    Y[0], Y[1] = True, False
    return Y.astype(int)


def evaluate_folds(block, pairs):
    """Return the scores (folds, size, m) of all shifts in pairs, and the inner products."""
    needed = sorted({i for pair in pairs for i in pair})
    found = dict(zip(needed, block.shifted(needed), strict=True))
    scores = {i: np.swapaxes(each.scores, 1, 2) for i, each in found.items()}
    return scores, np.stack([block.inner(found[i], found[j]) for i, j in pairs])


def conditional_means(D, penalty, predictors):
    """Predict each entry of D from its row by a ridge regression without this row, one by one."""
    out = np.zeros(D.shape)
    for i in range(D.shape[0]):
        rows = np.arange(D.shape[0]) != i
        for j in range(D.shape[1]):
            others = [k for k in predictors if k != j]
            X, t = D[rows][:, others], D[rows, j]
            b = np.linalg.solve(X.T @ X + penalty * np.eye(len(others)), X.T @ t)
            out[i, j] = D[i, others] @ b
    return out


def logistic_map(F, y, prior, ridge):
    """Minimise the log-loss plus ridge / 2 |w - prior|^2 by Newton steps with a line search."""

    def loss(w):
        eta = F @ w
        return np.sum(np.logaddexp(0, eta) - y * eta) + ridge / 2 * np.sum((w - prior) ** 2)

    w = np.array(prior, dtype=float)
    for _ in range(200):
        p = 1 / (1 + np.exp(-F @ w))
        g = F.T @ (p - y) + ridge * (w - prior)
        H = (F * (p * (1 - p))[:, None]).T @ F + ridge * np.eye(F.shape[1])
        step, size = np.linalg.solve(H, g), 1.0
        while loss(w - size * step) > loss(w) and size > 1e-9:
            size /= 2
        w = w - size * step
    return w


def label_error_scores(Y, P, wrong, missing):
    """Score each cell of a label matrix of 0, 1 and NaN by the formulas, cell by cell."""
    observed = ~np.isnan(Y)
    n, m = Y.shape
    mean = np.array([Y[observed[:, j], j].mean() if observed[:, j].any() else 0 for j in range(m)])
    D = np.where(observed, Y - mean, 0.0)
    varying = [j for j in range(m) if np.any(D[:, j])]
    penalty = 0.1 * np.mean([np.sum(D[:, j] ** 2) for j in varying])
    E = conditional_means(D, penalty, varying)
    low = P[(P > 0) & (P <= 0.5)].min(initial=0.5) / 2
    high = (1 + P[(P < 1) & (P >= 0.5)].max(initial=0.5)) / 2
    L = np.clip(P, low, high)
    F = np.stack([np.log(L / (1 - L)), E, np.ones((n, m))], axis=2)
    common = logistic_map(F[observed], Y[observed], [1.0, 0.0, 0.0], 1.0)
    scores = np.full((n, m), np.nan)
    for j in range(m):
        rows = observed[:, j]
        w = logistic_map(F[rows, j], Y[rows, j], common, 1.0)
        p = 1 / (1 + np.exp(-F[rows, j] @ w))
        x_wrong = wrong[j] / (1 - missing) * (1 - p) / p
        x_missing = missing / (1 - wrong[j]) * p / (1 - p)
        x = np.where(Y[rows, j] == 1, x_wrong, x_missing)
        scores[rows, j] = x / np.sqrt(1 + x**2)
    return scores


def svm_near_subspace(X, t, alpha, beta, Theta, loss):
    """Return an SVM of ASO, from M^-1/2 x: its penalty is |.|^2 there. M is dense."""
    M = (alpha + beta) * np.eye(X.shape[1]) - alpha * Theta.T @ Theta
    root = np.linalg.inv(np.real(sl.sqrtm(M)))
    A = np.column_stack([X @ root, np.full(len(X), 1 / np.sqrt(beta))])
    svm = LinearSVC(
        C=1 / (2 * len(X)), loss=loss, fit_intercept=False, tol=1e-10, max_iter=10**6
    ).fit(A, t)
    return root @ svm.coef_[0, :-1], svm.coef_[0, -1] / np.sqrt(beta)
