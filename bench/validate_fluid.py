#!/usr/bin/env python3
"""Compares fluid with what others measured and computed, and draws the plots of docs/results/fluid.md.

    bench/validate_fluid.py FLUID DIRECTORY [cavity[=CELLS] | cylinder[=CELLS]]... [-- OPTION...]

The lid-driven cavity at Re 100 and 1000 on 257 x 257 cells (or CELLS) against the velocities on the centre lines that
Ghia, Ghia and Shin (1982) tabulate, and the frequency of the cylinder's vortices with 16 cells (or CELLS) across it.
Options after -- go to fluid, such as --backend gl. Writes cavity.svg, cylinder.svg and the data behind them to the
directory. Needs matplotlib (Debian: python3-matplotlib). Give each run a thread on a CPU with few cores: OMP_NUM_THREADS=1.
"""
import concurrent.futures
import csv
import json
import math
import subprocess
import sys

from report import pyplot, save

# Ghia, Ghia, Shin: High-Re solutions for incompressible flow using the Navier-Stokes equations and a multigrid
# method. J. Comp. Phys. 48 (1982), tables I and II.
GHIA_Y = [0, 0.0547, 0.0625, 0.0703, 0.1016, 0.1719, 0.2813, 0.4531, 0.5, 0.6172, 0.7344, 0.8516, 0.9531, 0.9609,
          0.9688, 0.9766, 1]
GHIA_U = {
    100: [0, -0.03717, -0.04192, -0.04775, -0.06434, -0.10150, -0.15662, -0.21090, -0.20581, -0.13641, 0.00332,
          0.23151, 0.68717, 0.73722, 0.78871, 0.84123, 1],
    1000: [0, -0.18109, -0.20196, -0.22220, -0.29730, -0.38289, -0.27805, -0.10648, -0.06080, 0.05702, 0.18719,
           0.33304, 0.46604, 0.51117, 0.57492, 0.65928, 1],
}
GHIA_X = [0, 0.0625, 0.0703, 0.0781, 0.0938, 0.1563, 0.2266, 0.2344, 0.5, 0.8047, 0.8594, 0.9063, 0.9453, 0.9531,
          0.9609, 0.9688, 1]
GHIA_V = {
    100: [0, 0.09233, 0.10091, 0.10890, 0.12317, 0.16077, 0.17507, 0.17527, 0.05454, -0.24533, -0.22445, -0.16914,
          -0.10313, -0.08864, -0.07391, -0.05906, 0],
    1000: [0, 0.27485, 0.29012, 0.30353, 0.32627, 0.37095, 0.33075, 0.32235, 0.02526, -0.31966, -0.42665, -0.51550,
           -0.39188, -0.33714, -0.27669, -0.21388, 0],
}


# ---- Runs ----

def run(fluid, arguments):
    done = subprocess.run([fluid, "--headless", "--json", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def run_all(fluid, argument_lists):
    """On a CPU each run uses one thread (OMP_NUM_THREADS=1); a GPU could run them one after the other."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(lambda arguments: run(fluid, arguments), argument_lists))


def between(xs, ys, x):
    for k in range(len(xs) - 1):
        if xs[k] <= x <= xs[k + 1]:
            return ys[k] + (x - xs[k]) / (xs[k + 1] - xs[k]) * (ys[k + 1] - ys[k])
    return ys[0] if x < xs[0] else ys[-1]


def cavity(fluid, directory, options, cells=257, cells_per_step=2.0):
    figure, plots = pyplot().subplots(1, 2, figsize=(8.5, 4.2))
    plots[0].set(title=f"Lid-driven cavity, {cells} x {cells} cells", xlabel="u / U at x = 1/2", ylabel="y", ylim=(0, 1))
    plots[1].set(title="circles: Ghia et al. 1982", xlabel="x", ylabel="v / U at y = 1/2", xlim=(0, 1))
    time_step, steps_per_frame = cells_per_step / cells, 100
    cases = ((100, 15, "#1f5fa8"), (1000, 45, "#b3303f"))
    reports = run_all(fluid, [
        ["--scene", "cavity", "--size", f"{cells}x{cells}", "--reynolds", str(reynolds), "--time-step",
         str(time_step), "--frames", str(math.ceil(seconds / time_step / steps_per_frame)), "--steps-per-frame",
         str(steps_per_frame), "--particles", "0", "--probe", "0.5,0.25", "--profile",
         f"{directory}/cavity-{reynolds}.csv", *options] for reynolds, seconds, _ in cases])
    for (reynolds, _, colour), report in zip(cases, reports):
        path = f"{directory}/cavity-{reynolds}.csv"
        lines = {"vertical": ([0.0], [0.0], [0.0]), "horizontal": ([0.0], [0.0], [0.0])}
        with open(path, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                for values, name in zip(lines[row["line"]], ("position", "u", "v")):
                    values.append(float(row[name]))
        ys, us = lines["vertical"][0] + [1.0], lines["vertical"][1] + [1.0]
        xs, vs = lines["horizontal"][0] + [1.0], lines["horizontal"][2] + [0.0]
        differences_u = [between(ys, us, y) - u for y, u in zip(GHIA_Y, GHIA_U[reynolds])]
        differences_v = [between(xs, vs, x) - v for x, v in zip(GHIA_X, GHIA_V[reynolds])]
        late = [frame["probe"][0] for frame in report["frames"][-5:]]
        print(f"cavity Re {reynolds}: {report['total']['steps']} steps of {time_step:.5f} s; "
              f"largest difference u {max(map(abs, differences_u)):.4f}, v {max(map(abs, differences_v)):.4f}; "
              f"root mean square u {rms(differences_u):.4f}, v {rms(differences_v):.4f}; "
              f"least u {min(us):.4f} (Ghia {min(GHIA_U[reynolds]):.4f}), "
              f"v from {min(vs):.4f} to {max(vs):.4f} (Ghia {min(GHIA_V[reynolds]):.4f} to "
              f"{max(GHIA_V[reynolds]):.4f}); u(0.5, 0.25) changed by {max(late) - min(late):.1e} in the last "
              f"{4 * steps_per_frame * time_step:.1f} s; divergence {report['frames'][-1]['divergence_after']:.1e} 1/s",
              flush=True)
        circles = {"color": colour, "marker": "o", "markerfacecolor": "none", "linestyle": ""}
        plots[0].plot(us, ys, color=colour, label=f"Re {reynolds}")
        plots[0].plot(GHIA_U[reynolds], GHIA_Y, **circles)
        plots[1].plot(xs, vs, color=colour)
        plots[1].plot(GHIA_X, GHIA_V[reynolds], **circles)
    plots[0].legend(loc="lower right")
    save(figure, f"{directory}/cavity.svg")


def rms(values):
    return math.sqrt(sum(value * value for value in values) / len(values))


def crossings(times, values):
    """The times when the values cross their mean upwards."""
    mean = sum(values) / len(values)
    found = []
    for k in range(len(values) - 1):
        a, b = values[k] - mean, values[k + 1] - mean
        if a < 0 <= b:
            found.append(times[k] + a / (a - b) * (times[k + 1] - times[k]))
    return found


def cylinder(fluid, directory, options, cells_across=16, blockage=1 / 12, reynolds=(100, 150)):
    """A cylinder with this diameter in cells, `blockage` of the domain's height, between slip boundaries."""
    height = round(cells_across / blockage)
    width = round(1.75 * height)
    diameter, x, colours = blockage, 0.45, ("#1f5fa8", "#b3303f")
    walls = f"{directory}/cylinder.png"
    plt = pyplot()
    plt.imsave(walls, [[math.hypot((i + 0.5) / height - x, (j + 0.5) / height - 0.5) >= diameter / 2 for i in range(width)]
                       for j in range(height)], cmap="gray", origin="lower")
    figure, plots = plt.subplots(len(reynolds), 1, figsize=(8.5, 2.3 * len(reynolds)), squeeze=False)
    time_step, steps_per_frame, seconds = 1.0 / height, 2, 120 * diameter
    reports = run_all(fluid, [
        ["--scene", "cylinder", "--size", f"{width}x{height}", "--walls", walls, "--viscosity",
         str(diameter / number), "--time-step", str(time_step), "--frames",
         str(math.ceil(seconds / time_step / steps_per_frame)), "--steps-per-frame", str(steps_per_frame),
         "--particles", "0", "--probe", f"{x + 2.5 * diameter},{0.5 + 0.5 * diameter}", *options]
        for number in reynolds])
    for k, (number, report) in enumerate(zip(reynolds, reports)):
        times = [frame["time"] / diameter for frame in report["frames"]]
        values = [frame["probe"][1] for frame in report["frames"]]
        late = [(t, v) for t, v in zip(times, values) if t > 70]
        found = crossings(*zip(*late))
        frequency = (len(found) - 1) / (found[-1] - found[0])
        periods = [b - a for a, b in zip(found, found[1:])]
        accepted = 0.2684 - 1.0356 / math.sqrt(number)  # Fey, Koenig and Eckelmann 1998, for 47 < Re < 180
        print(f"cylinder Re {number}: {width} x {height} cells, {cells_across} across the cylinder, blockage "
              f"{100 * blockage:.1f} %; St {frequency:.4f} from {len(periods)} periods, which differ by "
              f"{(max(periods) - min(periods)) * frequency:.1%}; accepted in an unbounded flow {accepted:.4f}, with the "
              f"higher speed between them up to {accepted / (1 - blockage):.4f}", flush=True)
        plot = plots[k][0]
        plot.plot(times, values, color=colours[k % 2])
        plot.set(title=f"Re {number}: Strouhal number {frequency:.3f}; accepted in an unbounded flow: {accepted:.3f}",
                 xlabel="t U / D", ylabel="v / U", xlim=(0, 120))
    save(figure, f"{directory}/cylinder.svg")


def main():
    arguments, options = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, options = arguments[:at], arguments[at + 1:]
    if len(arguments) < 2:
        sys.exit(__doc__.strip())
    fluid, directory = arguments[:2]
    for argument in arguments[2:] or ["cavity", "cylinder"]:
        name, _, cells = argument.partition("=")
        if name not in ("cavity", "cylinder") or (cells and not cells.isdigit()):
            sys.exit(__doc__.strip())
        if name == "cavity":
            cavity(fluid, directory, options, int(cells or 257))
        else:
            cylinder(fluid, directory, options, int(cells or 16))


main()
