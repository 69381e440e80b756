"""Algebraic multigrid, complementarity problems, fluids and meshes."""
import numpy as np
import pytest
import scipy.sparse as sp

import texsolve
from conftest import convection, poisson, residual


def test_hierarchy():
    A = poisson(60)
    b = np.random.default_rng(2).standard_normal(A.shape[0])
    ml = texsolve.amg(A)
    assert len(ml.levels) >= 2 and ml.levels[0].rows == 3600 and ml.levels[0].entries == A.nnz
    assert 1 < ml.operator_complexity() < 2 and 1 < ml.grid_complexity() < 2
    assert 'Number of Levels' in str(ml) and '3600' in str(ml)
    assert '<table>' in ml._repr_html_() and '<svg' in ml._repr_html_()
    for accel in (None, 'cg', 'gmres', 'bicgstab'):
        residuals = []
        x, info = ml.solve(b, tol=1e-9, accel=accel, residuals=residuals, return_info=True)
        assert info == 0 and residual(A, x, b) <= 1e-9 and residuals[0] == 1 and residuals[-1] <= 1e-8
    assert ml.result.iterations < 30
    with pytest.warns(texsolve.ConvergenceWarning):
        assert ml.solve(b, tol=1e-12, maxiter=2, return_info=True)[1] == 2
    ml.update(2 * A.data)
    assert residual(2 * A, ml.solve(b, tol=1e-9, accel='cg'), b) <= 1e-9
    ml.update(A)
    assert residual(A, texsolve.solve(A, b, preconditioner=ml, rtol=1e-9).x, b) <= 1e-9
    states = []
    ml.solve(b, callback=states.append)
    assert states and states[-1].residual <= 1e-5


def elasticity(n):
    """Plane elasticity on a grid of squares, clamped at one side: two unknowns in each node."""
    nodes = np.array([(i, j) for j in range(n) for i in range(n)], float)
    D = np.array([[1, 0.3, 0], [0.3, 1, 0], [0, 0, 0.35]])
    K = np.zeros((8, 8))
    for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        s, t = s / 3**0.5, t / 3**0.5
        dx = np.array([-(1 - t), 1 - t, 1 + t, -(1 + t)]) / 2
        dy = np.array([-(1 - s), -(1 + s), 1 + s, 1 - s]) / 2
        B = np.zeros((3, 8))
        B[0, 0::2], B[1, 1::2], B[2, 0::2], B[2, 1::2] = dx, dy, dy, dx
        K += B.T @ D @ B / 4
    rows, columns, values = [], [], []
    for j in range(n - 1):
        for i in range(n - 1):
            corner = [j * n + i, j * n + i + 1, (j + 1) * n + i + 1, (j + 1) * n + i]
            unknowns = np.array([[2 * c, 2 * c + 1] for c in corner]).ravel()
            rows.append(np.repeat(unknowns, 8)), columns.append(np.tile(unknowns, 8)), values.append(K.ravel())
    A = sp.coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))).tocsr()
    free = np.repeat(nodes[:, 0] > 0, 2)
    return sp.csr_matrix(A[free][:, free]), nodes[nodes[:, 0] > 0]


def test_near_null_space():
    A, nodes = elasticity(40)
    b = np.ones(A.shape[0])
    motions = np.zeros((A.shape[0], 3))
    motions[0::2, 0] = motions[1::2, 1] = 1
    motions[0::2, 2], motions[1::2, 2] = -nodes[:, 1], nodes[:, 0]
    iterations = {}
    for name, options in (('constant', {}), ('motions', dict(near_null_space=motions, unknowns=2)),
                          ('coordinates', dict(coordinates=nodes))):
        r = texsolve.solve(A, b, preconditioner=texsolve.amg(A, **options), rtol=1e-8, method='cg')
        assert residual(A, r.x, b) <= 1e-8
        iterations[name] = r.iterations
    assert iterations['motions'] < iterations['constant'] and iterations['coordinates'] < iterations['constant']
    assert abs(iterations['motions'] - iterations['coordinates']) <= 2


def test_convection():
    A = convection(2000, 0.2)
    b = np.ones(2000)
    assert residual(A, texsolve.solve(A, b, preconditioner=texsolve.amg(A), rtol=1e-8).x, b) <= 1e-8


@pytest.mark.parametrize('sparse', [False, True])
def test_complementarity(sparse):
    M = poisson(40, 1).toarray()
    q = np.sin(np.arange(40.0))
    r = texsolve.lcp(sp.csr_matrix(M) if sparse else M, q, rtol=1e-10)
    w = M @ r.x + q
    assert r.converged and r.x.min() >= 0 and w.min() >= -1e-8 and np.abs(r.x * w).max() < 1e-8
    assert (r.x > 1e-6).any() and (w > 1e-6).any()
    again = texsolve.lcp(M, q, r.x, rtol=1e-10)
    assert again.iterations == 0 or np.allclose(again.x, r.x)
    bounded = texsolve.lcp(M, q, lower=-0.1, upper=0.2, rtol=1e-10)
    w = M @ bounded.x + q
    assert bounded.x.min() >= -0.1 - 1e-15 and bounded.x.max() <= 0.2 + 1e-15
    inside = (bounded.x > -0.1 + 1e-9) & (bounded.x < 0.2 - 1e-9)
    assert inside.any() and np.abs(w[inside]).max() < 1e-8
    with pytest.warns(texsolve.ConvergenceWarning):
        assert not texsolve.lcp(M, q, rtol=1e-14, max_sweeps=1).converged


def test_friction():
    """A mass on a plane: it sticks for a small push, and slides for a large one."""
    for push, slides in ((0.2, False), (0.9, True)):
        r = texsolve.lcp(np.eye(3), np.array([-1.0, push, 0.0]), friction=[0.5], rtol=1e-10)
        assert r.x[0] == pytest.approx(1.0) and r.x[1] == pytest.approx(-0.5 if slides else -push) and abs(r.x[2]) < 1e-9
    assert texsolve.lcp(np.eye(3), np.array([-1.0, 5.0, 0.0]), friction=0.5, rtol=1e-10).x == pytest.approx([1, -0.5, 0])
    assert texsolve.lcp(np.eye(2), np.array([1.0, 0.0]), friction=[0.5]).x == pytest.approx([0, 0])


def test_fluid():
    fluid = texsolve.Fluid(48, 32, cell_size=1 / 32, buoyancy=2.0)
    fluid.sources = [texsolve.Source(0.75, 0.2, 0.1, dye=(1, 0.5, 0), temperature=1)]
    fluid.step(20)
    measured = fluid.measure()
    assert fluid.steps == 21 and fluid.time == pytest.approx(21 / 60)
    assert measured['divergence_after'] < 0.1 * measured['divergence_before'] and measured['largest_speed'] > 0.01
    assert fluid.dye.shape == (32, 48, 3) and fluid.velocity.shape == (33, 49, 2) and fluid.pressure.shape == (32, 48)
    assert fluid.dye[..., 0].max() == pytest.approx(1) and fluid.dye[..., 1].max() == pytest.approx(0.5)
    column = fluid.temperature[:, 24]
    assert (column * np.arange(32)).sum() / column.sum() > 5.9 + 0.5  # the smoke has risen from row 5.9
    assert fluid.velocity[:-1, 24, 1].max() > 0
    fluid.set_walls(np.ones((32, 48)) * (np.arange(48) < 10))
    fluid.set_parameters(viscosity=0.01, gravity=(0, -1))
    fluid.splat(1.0, 0.5, 0.1, velocity=(1, 0), dye=(0, 0, 1))
    assert fluid.dye[..., 2].max() > 0.5
    fluid.step()
    fluid.reset()
    assert fluid.steps == 0 and not fluid.velocity.any()


def test_lid():
    fluid = texsolve.Fluid(24, 24, top=('wall', 1.0, 0.0), viscosity=0.05, left='slip', time_step=0.02)
    fluid.step(50)
    assert fluid.velocity[22, 12, 0] > 0.2 and fluid.velocity[6, 12, 0] < 0  # the fluid turns round


def sphere(n):
    """A subdivided octahedron on the unit sphere."""
    vertices = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], float)
    faces = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    for _ in range(n):
        middles, more, points = {}, [], list(vertices)
        for a, b, c in faces:
            m = []
            for edge in ((a, b), (b, c), (c, a)):
                key = tuple(sorted(edge))
                if key not in middles:
                    middles[key] = len(points)
                    points.append(vertices[key[0]] + vertices[key[1]])
                m.append(middles[key])
            more += [[a, m[0], m[2]], [b, m[1], m[0]], [c, m[2], m[1]], m]
        vertices = np.array(points)
        vertices /= np.linalg.norm(vertices, axis=1, keepdims=True)
        faces = np.array(more)
    return vertices, faces


def test_smooth():
    vertices, faces = sphere(3)
    found = texsolve.smooth(vertices, faces, 0.01, steps=10)
    radii = np.linalg.norm(found, axis=1)
    assert found.dtype == np.float64 and radii.mean() == pytest.approx((1 - 2 * 0.1) ** 0.5, rel=0.03) and radii.std() < 0.01
    noisy = (vertices + 0.02 * np.random.default_rng(1).standard_normal(vertices.shape)).astype(np.float32)
    smooth = texsolve.smooth(noisy, faces, steps=4)
    assert smooth.dtype == np.float32 and np.linalg.norm(smooth, axis=1).std() < 0.4 * np.linalg.norm(noisy, axis=1).std()
    kept = np.zeros(len(vertices), bool)
    kept[:7] = True
    assert np.array_equal(texsolve.smooth(noisy, faces, constrained=kept)[:7], noisy[:7])


def grid(n):
    points = np.array([(i, j) for j in range(n) for i in range(n)], float) / (n - 1)
    faces = [[j * n + i, j * n + i + 1, (j + 1) * n + i] for j in range(n - 1) for i in range(n - 1)]
    faces += [[j * n + i + 1, (j + 1) * n + i + 1, (j + 1) * n + i] for j in range(n - 1) for i in range(n - 1)]
    return points, np.array(faces)


def test_conformal_map():
    flat, faces = grid(20)
    angle = 1.5 * flat[:, 0]
    rolled = np.c_[np.cos(angle) / 1.5, np.sin(angle) / 1.5, flat[:, 1]]  # a part of a cylinder, which unrolls
    uv = texsolve.lscm(rolled, faces)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    before = np.linalg.norm(rolled[edges[:, 0]] - rolled[edges[:, 1]], axis=1)
    after = np.linalg.norm(uv[edges[:, 0]] - uv[edges[:, 1]], axis=1)
    assert (after / before).std() < 0.01 * (after / before).mean()  # a similarity
    pins = {0: (0, 0), 19: (3, 0)}
    uv = texsolve.lscm(np.c_[flat, np.zeros(400)], faces, pins)
    assert np.abs(uv - 3 * flat).max() < 1e-6
