#!/usr/bin/env python3
"""The voltages of a network of resistors, as a graph of networkx: its Laplacian is singular, and texsolve is told its null space.

  python3 voltages.py      # needs networkx and SciPy (Debian: python3-networkx python3-scipy)

Prints the resistance between two corners of a grid, beside networkx' own, and the current flow closeness of some nodes.
"""
import networkx as nx
import numpy as np
import texsolve

graph = nx.grid_2d_graph(30, 30)
for number, (u, v) in enumerate(graph.edges):
    graph.edges[u, v]['weight'] = 1 + number % 3  # the conductance of a resistor
nodes = list(graph)
L = nx.laplacian_matrix(graph, weight='weight').astype(float)

# A current of 1 enters at one corner and leaves at the other. Voltages are known up to a constant.
solver = texsolve.Solver(L, null_space=np.ones((len(nodes), 1)), rtol=1e-10)
current = np.zeros(len(nodes))
current[0], current[-1] = 1, -1
voltage = solver(current)
resistance = voltage[0] - voltage[-1]
expected = nx.resistance_distance(graph, nodes[0], nodes[-1], weight='weight', invert_weight=False)
print(f'resistance between the corners: {resistance:.8f}, by networkx {expected:.8f}; {solver.result}')

# Many right-hand sides: the resistances from one node to all others, by the columns of the pseudo-inverse.
some = np.arange(0, len(nodes), 100)
currents = np.zeros((len(nodes), len(some)))
currents[some, np.arange(len(some))] = 1
currents -= 1 / len(nodes)
voltages = solver(currents)
trace = sum(1 / np.linalg.eigvalsh(L.toarray())[1:])
diagonal = voltages[some, np.arange(len(some))] - voltages.mean(axis=0)
closeness = 1 / (len(nodes) * diagonal + trace)
theirs = nx.current_flow_closeness_centrality(graph, weight='weight', solver='lu')
theirs = np.array([theirs[nodes[k]] for k in some])
print('closeness of some nodes:', np.array2string(closeness, precision=5))
assert abs(resistance - expected) < 1e-6 * expected and np.allclose(closeness, theirs, rtol=1e-6), (closeness, theirs)
