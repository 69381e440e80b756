"""Matrices that the tests share. Run with TEXSOLVE_LIBRARY set to the library of a build, as scripts/python does."""
import numpy as np
import pytest
import scipy.sparse as sp


def poisson(n, dimensions=2):
    """The Laplacian of a grid with n points in each direction: 2 * dimensions on the diagonal."""
    line, one = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n)), sp.identity(n)
    matrix = line
    for _ in range(dimensions - 1):
        matrix = sp.kron(matrix, one) + sp.kron(sp.identity(matrix.shape[0]), line)
    return sp.csr_matrix(matrix)


def convection(n, wind=0.4):
    """A matrix that is not symmetric: diffusion and convection on a line."""
    return sp.csr_matrix(sp.diags([-1.0 - wind, 2.5, -1.0 + wind], [-1, 0, 1], shape=(n, n)))


def residual(A, x, b):
    return float(np.max(np.linalg.norm(b - A @ x, axis=0) / np.linalg.norm(b, axis=0)))


@pytest.fixture
def A():
    return poisson(20)


@pytest.fixture
def b(A):
    return np.random.default_rng(7).standard_normal(A.shape[0])
