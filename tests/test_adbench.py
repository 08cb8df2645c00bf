"""The four objectives of ADBench: the gradient is that of differences.

Gaussian mixture, bundle adjustment, LSTM and hand tracking; with arrays, as NumPy users
write them, in loops over elements, with dicts and dataclasses, and with classes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import sct

from .test_kernels import check, draw

PROGRAMS: list = []


def program(*args, wrt=None, marks=()):
    """The function below, differentiated with respect to all of `args` or to `wrt`."""

    def keep(f):
        chosen = tuple(range(len(args))) if wrt is None else wrt
        PROGRAMS.append(pytest.param(f, args, chosen, id=f.__name__, marks=marks))
        return f

    return keep


IN_A_LIST = pytest.mark.xfail(
    reason="methods in a comprehension, and state that objects in a list keep",
    raises=sct.UnsupportedError,
)


# -- with arrays -----------------------------------------------------------------------
@program(
    draw(3),
    draw(3, 2),
    0.3 * draw(3, 3),
    draw(4, 2, seed=9),
    1.1,
    1,
    wrt=(0, 1, 2, 3, 4),
)
def gmm(alpha, mu, icf, x, gamma, m):
    n, d = x.shape
    k = alpha.shape[0]
    rows, cols = np.tril_indices(d, -1)
    diag = np.arange(d)
    beta = np.empty((n, k))
    prior = 0.0
    for j in range(k):
        q = icf[j, :d]
        Q = np.zeros((d, d))
        Q[rows, cols] = icf[j, d:]
        Q[diag, diag] = np.exp(q)
        z = (x - mu[j]) @ Q.T
        beta[:, j] = alpha[j] + np.sum(q) - 0.5 * np.sum(z * z, axis=1)
        prior += 0.5 * gamma**2 * np.sum(Q * Q) - m * np.sum(q)
    top = np.max(beta, axis=1)
    lse = top + np.log(np.sum(np.exp(beta - top[:, None]), axis=1))
    atop = np.max(alpha)
    alse = atop + np.log(np.sum(np.exp(alpha - atop)))
    return np.sum(lse) - n * (alse + 0.5 * d * math.log(2.0 * math.pi)) - prior


SEEN = [(0, 0), (0, 2), (1, 1), (1, 2)]
CAMERA_OF, POINT_OF = np.array(SEEN).T


@program(
    draw(2, 11),
    draw(3, 3) + 3.0,
    draw(4),
    CAMERA_OF,
    POINT_OF,
    draw(4, 2),
    wrt=(0, 1, 2, 5),
)
def ba(cams, pts, w, cam_idx, pt_idx, feats):
    c = cams[cam_idx]
    rot = c[:, 0:3]
    xo = pts[pt_idx] - c[:, 3:6]
    theta = np.sqrt(np.sum(rot * rot, axis=1))
    ct = np.cos(theta)
    st = np.sin(theta)
    v = rot / theta[:, None]
    vxo = np.cross(v, xo)
    tmp = np.sum(v * xo, axis=1) * (1.0 - ct)
    xr = xo * ct[:, None] + vxo * st[:, None] + v * tmp[:, None]
    p = xr[:, 0:2] / xr[:, 2:3]
    rsq = np.sum(p * p, axis=1)
    dist = 1.0 + c[:, 9] * rsq + c[:, 10] * rsq * rsq
    proj = p * (dist * c[:, 6])[:, None] + c[:, 7:9]
    err = w[:, None] * (proj - feats)
    werr = 1.0 - w * w
    return 0.5 * np.sum(err * err) + 0.5 * np.sum(werr * werr)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm_cell(weight, bias, hidden, cell, x):
    forget = sigmoid(x * weight[0] + bias[0])
    ingate = sigmoid(hidden * weight[1] + bias[1])
    outgate = sigmoid(x * weight[2] + bias[2])
    change = np.tanh(hidden * weight[3] + bias[3])
    cell = cell * forget + ingate * change
    hidden = outgate * np.tanh(cell)
    return hidden, cell


@program(
    draw(2, 4, 3), draw(2, 4, 3, seed=1), draw(3, 3), draw(2, 3), draw(2, 3), draw(4, 3)
)
def lstm(W, B, wio, h0, c0, seq):
    layers = W.shape[0]
    T = seq.shape[0] - 1
    h = h0.copy()
    c = c0.copy()
    total = 0.0
    for t in range(T):
        x = seq[t] * wio[0]
        for l in range(layers):
            h[l], c[l] = lstm_cell(W[l], B[l], h[l], c[l], x)
            x = h[l]
        ypred = x * wio[1] + wio[2]
        ynorm = ypred - np.log(2.0 + np.sum(np.exp(ypred)))
        total += np.sum(seq[t + 1] * ynorm)
    return -total / (T * seq.shape[1])


HAND_PARENT = [-1, 0] + [
    p for f in range(5) for p in (1, 2 + 4 * f, 3 + 4 * f, 4 + 4 * f)
]


def euler(a, b, c):
    ca = np.cos(a)
    sa = np.sin(a)
    cb = np.cos(b)
    sb = np.sin(b)
    cc = np.cos(c)
    sc = np.sin(c)
    R = np.empty((3, 3))
    R[0, 0] = cb * cc
    R[0, 1] = sa * sb * cc - ca * sc
    R[0, 2] = ca * sb * cc + sa * sc
    R[1, 0] = cb * sc
    R[1, 1] = sa * sb * sc + ca * cc
    R[1, 2] = ca * sb * sc - sa * cc
    R[2, 0] = -sb
    R[2, 1] = sa * cb
    R[2, 2] = ca * cb
    return R


@program(
    0.3 * draw(26),
    np.eye(4) + 0.1 * draw(22, 4, 4),
    np.eye(4) + 0.1 * draw(22, 4, 4, seed=1),
    draw(4, 3),
    draw(22, 3) / 22.0,
    draw(3, 3),
)
def hand(theta, rel, invbase, verts, weights, target):
    nb = rel.shape[0]
    angles = np.zeros((nb, 2))
    for f in range(5):
        angles[3 + 4 * f, 0] = theta[6 + 4 * f]
        angles[3 + 4 * f, 1] = theta[7 + 4 * f]
        angles[4 + 4 * f, 0] = theta[8 + 4 * f]
        angles[5 + 4 * f, 0] = theta[9 + 4 * f]
    T = np.zeros((nb, 4, 4))
    for i in range(nb):
        local = np.eye(4)
        local[:3, :3] = euler(angles[i, 0], angles[i, 1], 0.0)
        local = rel[i] @ local
        if HAND_PARENT[i] < 0:
            T[i] = local
        else:
            T[i] = T[HAND_PARENT[i]] @ local
    Z = np.zeros((3, verts.shape[1]))
    for i in range(nb):
        A = T[i] @ invbase[i]
        Z += (A[:3] @ verts) * weights[i]
    V = euler(theta[0], theta[1], theta[2]) @ Z + theta[3:6][:, None]
    e = V - target
    return 0.5 * np.sum(e * e)


# -- in loops, with dicts and dataclasses ----------------------------------------------
def logsumexp(xs):
    top = np.max(np.array(xs))
    return top + math.log(sum(math.exp(v - top) for v in xs))


def lower_times(q, l, x):
    """The product of a lower triangular matrix, stored by columns, and a vector."""
    out = [math.exp(q[i]) * x[i] for i in range(len(x))]
    at = 0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            out[j] += l[at] * x[i]
            at += 1
    return out


@program(
    {
        "alphas": draw(3),
        "means": draw(3, 2),
        "icf": [{"q": draw(2, seed=k), "l": draw(1, seed=k)} for k in range(3)],
    },
    draw(4, 2, seed=9),
    1.1,
    1,
    wrt=(0, 1, 2),
)
def gmm_loops(p, x, gamma, m):
    n, d = x.shape
    total = 0.0
    for i in range(n):
        terms = []
        for k, part in enumerate(p["icf"]):
            centred = x[i] - p["means"][k]
            z = lower_times(part["q"], part["l"], centred)
            terms.append(
                p["alphas"][k] + sum(part["q"]) - 0.5 * sum([v * v for v in z])
            )
        total += logsumexp(terms)
    total -= n * logsumexp(p["alphas"])
    for icf in p["icf"]:
        frobenius = np.sum(np.exp(icf["q"]) ** 2) + np.sum(icf["l"] ** 2)
        total += 0.5 * gamma**2 * frobenius - m * np.sum(icf["q"])
    return total


@dataclass
class Camera:
    rotation: np.ndarray
    centre: np.ndarray
    focal: float
    principal: np.ndarray
    radial: tuple[float, float]

    def project(self, point):
        return projected(self, point)


def rodrigues(rotation, x):
    sq = np.sum(rotation * rotation)
    if sq == 0.0:
        return x + np.cross(rotation, x)
    theta = math.sqrt(sq)
    axis = rotation / theta
    tmp = np.dot(axis, x) * (1.0 - math.cos(theta))
    return x * math.cos(theta) + np.cross(axis, x) * math.sin(theta) + axis * tmp


def projected(camera, point):
    moved = rodrigues(camera.rotation, point - camera.centre)
    p = moved[:2] / moved[2]
    rsq = p[0] * p[0] + p[1] * p[1]
    k1, k2 = camera.radial
    return p * (1.0 + k1 * rsq + k2 * rsq * rsq) * camera.focal + camera.principal


CAMERAS = [
    Camera(
        draw(3, seed=s), -3.0 * draw(3, seed=s), 1.0 + s, draw(2, seed=s), (0.1, 0.02)
    )
    for s in range(2)
]


@program(CAMERAS, draw(3, 3), draw(4), SEEN, draw(4, 2), wrt=(0, 1, 2))
def bundle_adjustment(cameras, points, weights, seen, features):
    total = 0.0
    for k, (c, p) in enumerate(seen):
        error = weights[k] * (projected(cameras[c], points[p]) - features[k])
        total += 0.5 * np.dot(error, error)
    for w in weights:
        total += 0.5 * (1.0 - w * w) ** 2
    return total


@program(
    draw(2, 11), draw(3, 3) + 3.0, draw(4), np.array(SEEN), draw(4, 2), wrt=(0, 1, 2)
)
def bundle_adjustment_rows(cams, points, weights, seen, features):
    residuals = np.empty(3 * len(seen))
    for k in range(len(seen)):
        cam = cams[seen[k, 0]]
        moved = rodrigues(cam[:3], points[seen[k, 1]] - cam[3:6])
        p = moved[:2] / moved[2]
        rsq = p @ p
        p = p * (1.0 + cam[9] * rsq + cam[10] * rsq**2)
        residuals[2 * k : 2 * k + 2] = weights[k] * (
            p * cam[6] + cam[7:9] - features[k]
        )
    residuals[2 * len(seen) :] = 1.0 - weights**2
    return 0.5 * residuals @ residuals


def gated(layer, hidden, cell, x):
    forget = sigmoid(x * layer["forget"][0] + layer["forget"][1])
    ingate = sigmoid(hidden * layer["in"][0] + layer["in"][1])
    outgate = sigmoid(x * layer["out"][0] + layer["out"][1])
    change = np.tanh(hidden * layer["change"][0] + layer["change"][1])
    cell = cell * forget + ingate * change
    return outgate * np.tanh(cell), cell


LSTM = {
    "layers": [
        {
            gate: (draw(3, seed=s + k), draw(3, seed=5 * s + k))
            for k, gate in enumerate(("forget", "in", "out", "change"))
        }
        for s in range(2)
    ],
    "scale": draw(3),
    "head": (draw(3, seed=7), draw(3, seed=8)),
}


@program(LSTM, [(draw(3), draw(3)), (draw(3), draw(3))], draw(4, 3))
def lstm_dicts(params, state, sequence):
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * params["scale"]
        new = []
        for layer, (h, c) in zip(params["layers"], state):
            h, c = gated(layer, h, c, x)
            new.append((h, c))
            x = h
        state = new
        predicted = x * params["head"][0] + params["head"][1]
        normed = predicted - np.log(2.0 + np.sum(np.exp(predicted)))
        total += np.sum(sequence[t + 1] * normed)
    return -total / (len(sequence) - 1)


@program(
    draw(2, 4, 3), draw(2, 4, 3, seed=1), draw(3, 3), draw(2, 3), draw(2, 3), draw(4, 3)
)
def lstm_state_in_place(W, B, wio, h, c, seq):
    total = 0.0
    for t in range(seq.shape[0] - 1):
        x = seq[t] * wio[0]
        for l in range(W.shape[0]):
            forget, ingate, outgate, change = W[l] * np.stack([x, h[l], x, h[l]]) + B[l]
            c[l] *= sigmoid(forget)
            c[l] += sigmoid(ingate) * np.tanh(change)
            h[l] = sigmoid(outgate) * np.tanh(c[l])
            x = h[l]
        y = x * wio[1] + wio[2]
        total -= seq[t + 1] @ (y - np.log(2.0 + np.exp(y).sum()))
    return total


def logistic(v):
    return 1.0 / (1.0 + math.exp(-v))


@program(
    draw(2, 4, 3), draw(2, 4, 3, seed=1), draw(3, 3), draw(2, 3), draw(2, 3), draw(4, 3)
)
def lstm_by_elements(W, B, wio, h, c, seq):
    layers, b = h.shape
    total = 0.0
    for t in range(len(seq) - 1):
        x = [seq[t, i] * wio[0, i] for i in range(b)]
        for l in range(layers):
            for i in range(b):
                forget = logistic(x[i] * W[l, 0, i] + B[l, 0, i])
                ingate = logistic(h[l, i] * W[l, 1, i] + B[l, 1, i])
                outgate = logistic(x[i] * W[l, 2, i] + B[l, 2, i])
                change = math.tanh(h[l, i] * W[l, 3, i] + B[l, 3, i])
                c[l, i] = c[l, i] * forget + ingate * change
                h[l, i] = outgate * math.tanh(c[l, i])
                x[i] = h[l, i]
        predicted = [x[i] * wio[1, i] + wio[2, i] for i in range(b)]
        norm = math.log(2.0 + sum(math.exp(p) for p in predicted))
        for i in range(b):
            total += seq[t + 1, i] * (predicted[i] - norm)
    return -total / ((len(seq) - 1) * b)


@dataclass
class Bone:
    parent: int
    base: np.ndarray
    weight: np.ndarray


def turned(a, b):
    ca, sa, cb, sb = math.cos(a), math.sin(a), math.cos(b), math.sin(b)
    return np.array([[cb, sa * sb, ca * sb], [0.0, ca, -sa], [-sb, sa * cb, ca * cb]])


BONES = [Bone(k - 1, draw(3, seed=k), draw(4, seed=k)) for k in range(3)]


@program(draw(3, 2), draw(3), BONES, draw(3, 4), draw(3, 4, seed=1))
def hand_tracking(angles, shift, bones, vertices, target):
    frames = []
    posed = np.zeros_like(vertices)
    for bone, (a, b) in zip(bones, angles):
        local = turned(a, b)
        if bone.parent >= 0:
            local = frames[bone.parent] @ local
        frames.append(local)
        posed += (local @ (vertices + bone.base[:, None])) * bone.weight
    posed += shift[:, None]
    return 0.5 * np.sum((posed - target) ** 2)


@program(draw(6), draw(3, 4, 4), draw(4, 5), draw(3, 5), [-1, 0, 1], wrt=(0, 1, 2, 3))
def hand_matrices(theta, relative, vertices, weights, parents):
    nb = len(parents)
    T = np.zeros((nb, 4, 4))
    for i in range(nb):
        local = np.eye(4)
        local[:3, :3] = turned(theta[2 * i], theta[2 * i + 1])
        local = relative[i] @ local
        T[i] = local if parents[i] < 0 else T[parents[i]] @ local
    Z = np.zeros((3, vertices.shape[1]))
    for i in range(nb):
        Z += (T[i][:3] @ vertices) * weights[i]
    return np.sum(np.tanh(0.1 * Z))


def product(a, b):
    n, m = len(a), b.shape[1]
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for k in range(len(b)):
                out[i, j] += a[i, k] * b[k, j]
    return out


@program(draw(6), draw(3, 4, 4), draw(4, 5), draw(3, 5), [-1, 0, 1], wrt=(0, 1, 2, 3))
def hand_by_elements(theta, relative, vertices, weights, parents):
    frames = []
    for i, parent in enumerate(parents):
        local = np.eye(4)
        rotation = turned(theta[2 * i], theta[2 * i + 1])
        for p in range(3):
            for q in range(3):
                local[p, q] = rotation[p, q]
        frame = product(relative[i], local)
        if parent >= 0:
            frame = product(frames[parent], frame)
        frames.append(frame)
    total = 0.0
    for v in range(vertices.shape[1]):
        for p in range(3):
            place = 0.0
            for i in range(len(parents)):
                for q in range(4):
                    place += weights[i, v] * frames[i][p, q] * vertices[q, v]
            total += 0.5 * place * place
    return total


# -- with classes ----------------------------------------------------------------------
class Mixture:
    def __init__(self, alphas, means, icf):
        self.alphas, self.means, self.icf = alphas, means, icf

    @property
    def dimension(self):
        return self.means.shape[1]

    def root(self, k):
        """The lower triangular root of the inverse of a covariance."""
        d = self.dimension
        root = np.diag(np.exp(self.icf[k, :d]))
        rows, cols = np.tril_indices(d, -1)
        root[rows, cols] = self.icf[k, d:]
        return root

    def scores(self, x, k):
        z = (x - self.means[k]) @ self.root(k).T
        logdet = np.sum(self.icf[k, : self.dimension])
        return self.alphas[k] + logdet - 0.5 * np.sum(z * z, axis=1)

    def log_posterior(self, x, gamma):
        scores = np.stack([self.scores(x, k) for k in range(3)], axis=1)
        total = np.sum(np.log(np.sum(np.exp(scores), axis=1)))
        total -= len(x) * np.log(np.sum(np.exp(self.alphas)))
        for k in range(len(self.alphas)):
            total -= 0.5 * gamma**2 * np.sum(self.root(k) ** 2)
        return total


@program(
    Mixture(draw(3), draw(3, 2), 0.3 * draw(3, 3)), draw(4, 2, seed=9), 1.1, wrt=(0, 1)
)
def gmm_of_a_class(mixture: Mixture, x, gamma):
    return mixture.log_posterior(x, gamma)


class Pinhole:
    def __init__(self, row):
        self.rotation, self.centre = row[:3], row[3:6]
        self.focal, self.principal = row[6], row[7:9]
        self.k1, self.k2 = row[9], row[10]

    def distort(self, p):
        rsq = np.sum(p * p)
        return p * (1.0 + self.k1 * rsq + self.k2 * rsq * rsq)

    def project(self, point):
        moved = rodrigues(self.rotation, point - self.centre)
        return self.distort(moved[:2] / moved[2]) * self.focal + self.principal


@program(draw(2, 11), draw(3, 3) + 3.0, draw(4), SEEN, draw(4, 2), wrt=(0, 1, 2))
def bundle_adjustment_of_a_class(cams, points, weights, seen, features):
    total = 0.0
    for k, (c, p) in enumerate(seen):
        camera = Pinhole(cams[c])
        error = weights[k] * (camera.project(points[p]) - features[k])
        total += 0.5 * np.dot(error, error)
    return total + 0.5 * np.sum((1.0 - weights * weights) ** 2)


class Lstm:
    def __init__(self, weights, biases, wio):
        self.weights, self.biases, self.wio = weights, biases, wio

    def gate(self, l, k, x):
        return x * self.weights[l, k] + self.biases[l, k]

    def cell(self, l, x, h, c):
        c = c * sigmoid(self.gate(l, 0, x))
        c = c + sigmoid(self.gate(l, 1, h)) * np.tanh(self.gate(l, 3, h))
        return sigmoid(self.gate(l, 2, x)) * np.tanh(c), c

    def predict(self, x, h, c):
        x = x * self.wio[0]
        for l in range(len(self.weights)):
            h[l], c[l] = self.cell(l, x, h[l], c[l])
            x = h[l]
        return x * self.wio[1] + self.wio[2]


@program(
    Lstm(draw(2, 4, 3), draw(2, 4, 3, seed=1), draw(3, 3)),
    draw(2, 3),
    draw(2, 3, seed=1),
    draw(4, 3),
)
def lstm_of_a_class(model: Lstm, h, c, seq):
    total = 0.0
    for t in range(len(seq) - 1):
        y = model.predict(seq[t], h, c)
        total += np.sum(seq[t + 1] * (y - np.log(2.0 + np.sum(np.exp(y)))))
    return -total / (len(seq) - 1)


class Lower:
    """A lower triangular matrix: the logarithms of its diagonal, and what is below."""

    def __init__(self, q, l):
        self.q, self.l = q, l

    def times(self, x):
        return lower_times(self.q, self.l, x)

    @property
    def logdet(self):
        return np.sum(self.q)

    def frobenius(self):
        return np.sum(np.exp(2.0 * self.q)) + np.sum(self.l * self.l)


class Component:
    def __init__(self, weight, mean, root: Lower):
        self.weight, self.mean, self.root = weight, mean, root

    def score(self, x):
        z = self.root.times(x - self.mean)
        return self.weight + self.root.logdet - 0.5 * sum(v * v for v in z)


@program(
    [Component(0.3 * k, draw(2, seed=k), Lower(draw(2), draw(1))) for k in range(3)],
    draw(4, 2, seed=9),
    1.1,
    marks=IN_A_LIST,
)
def gmm_of_components(components, x, gamma):
    total = 0.0
    for point in x:
        total += logsumexp([c.score(point) for c in components])
    total -= len(x) * logsumexp([c.weight for c in components])
    for c in components:
        total -= 0.5 * gamma**2 * c.root.frobenius()
    return total


@program(CAMERAS, draw(3, 3), draw(4), SEEN, draw(4, 2), wrt=(0, 1, 2))
def bundle_adjustment_by_method(cameras, points, weights, seen, features):
    total = 0.0
    for k, (c, p) in enumerate(seen):
        error = weights[k] * (cameras[c].project(points[p]) - features[k])
        total += 0.5 * np.dot(error, error)
    for w in weights:
        total += 0.5 * (1.0 - w * w) ** 2
    return total


class Cell:
    def __init__(self, weight, bias, hidden, cell):
        self.weight, self.bias = weight, bias
        self.hidden, self.cell = hidden, cell

    def __call__(self, x):
        gate = self.gate
        self.cell = self.cell * sigmoid(gate(0, x))
        self.cell += sigmoid(gate(1, self.hidden)) * np.tanh(gate(3, self.hidden))
        self.hidden = sigmoid(gate(2, x)) * np.tanh(self.cell)
        return self.hidden

    def gate(self, k, x):
        return x * self.weight[k] + self.bias[k]


@program(
    [
        Cell(draw(4, 3, seed=s), draw(4, 3, seed=s + 5), draw(3), draw(3, seed=s))
        for s in range(2)
    ],
    draw(3, 3),
    draw(4, 3),
    marks=IN_A_LIST,
)
def lstm_of_cells(cells, wio, seq):
    total = 0.0
    for t in range(len(seq) - 1):
        x = seq[t] * wio[0]
        for cell in cells:
            x = cell(x)
        predicted = x * wio[1] + wio[2]
        normed = predicted - np.log(2.0 + np.sum(np.exp(predicted)))
        total += np.sum(seq[t + 1] * normed)
    return -total / (len(seq) - 1)


class Skeleton:
    def __init__(self, bones, shift):
        self.bones, self.shift = bones, shift

    def pose(self, angles, vertices):
        frames = []
        posed = np.zeros_like(vertices)
        for bone, (a, b) in zip(self.bones, angles):
            local = turned(a, b)
            if bone.parent >= 0:
                local = frames[bone.parent] @ local
            frames.append(local)
            posed += (local @ (vertices + bone.base[:, None])) * bone.weight
        return posed + self.shift[:, None]


@program(Skeleton(BONES, draw(3)), draw(3, 2), draw(3, 4), draw(3, 4, seed=1))
def hand_of_a_skeleton(skeleton: Skeleton, angles, vertices, target):
    return 0.5 * np.sum((skeleton.pose(angles, vertices) - target) ** 2)


@pytest.mark.parametrize("f, args, wrt", PROGRAMS)
def test_gradient(f, args, wrt):
    check(f, args, wrt)
