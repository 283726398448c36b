"""Contact problems of FCLIB in numpy, apart from Talus: reading, law, error. For tests and benchmarks.

The formulas are those of tests/data/fclib/README.md; nothing here is shared with the C code.
"""
import h5py
import numpy

GROUPS = ["fclib_local", "fclib_local_rolling", "fclib_global", "fclib_global_rolling"]


def dense(rows, columns, values, shape):
    """A numpy array from triplets, of which those of one place add up."""
    out = numpy.zeros(shape)
    numpy.add.at(out, (rows, columns), values)
    return out


def read_matrix(group, make=dense):
    """A matrix from triplets (nz >= 0), columns (-1) or rows (-2)."""
    m, n, nz = (int(numpy.ravel(group[name][()])[0]) for name in ("m", "n", "nz"))
    p, i, x = (group[name][:] for name in "pix")
    if nz >= 0:
        return make(i[:nz], p[:nz], x[:nz], (m, n))
    major = numpy.repeat(numpy.arange(len(p) - 1), numpy.diff(p))
    minor = i[:p[-1]]
    rows, columns = (minor, major) if nz == -1 else (major, minor)
    return make(rows, columns, x[:p[-1]], (m, n))


class Problem:
    """The problem of a file: W, q, mu, and M, H, f, w if it is global.

    `make` makes W of a local problem from triplets; it may be sparse.
    """

    def __init__(self, path, make=dense):
        with h5py.File(path, "r") as file:
            name = next(g for g in GROUPS if g in file)
            group = file[name]
            vectors = group["vectors"]
            self.is_global = "global" in name
            self.rolling = "rolling" in name
            spacedim = int(numpy.ravel(group["spacedim"][()])[0])
            self.width = 5 if self.rolling else spacedim
            self.mu = vectors["mu"][:]
            self.mu_r = vectors["mu_r"][:] if self.rolling else numpy.zeros(len(self.mu))
            self.count = len(self.mu)
            if self.is_global:
                self.M, self.H = read_matrix(group["M"]), read_matrix(group["H"])
                self.f, self.w = vectors["f"][:], vectors["w"][:]
                inverse = numpy.linalg.solve(self.M, numpy.column_stack([self.H, self.f]))
                self.W = self.H.T @ inverse[:, :-1]
                self.q = self.H.T @ inverse[:, -1] + self.w
            else:
                self.W, self.q = read_matrix(group["W"], make), vectors["q"][:]

    def velocity(self, r):
        """u, and v of a global problem (else None), that follow from the impulses."""
        if not self.is_global:
            return self.W @ r + self.q, None
        v = numpy.linalg.solve(self.M, self.H @ r + self.f)
        return self.H.T @ v + self.w, v

    def balance(self, r, v):
        """|M v - H r - f| relative to the largest of its terms."""
        terms = [self.M @ v, self.H @ r, self.f]
        largest = max(numpy.linalg.norm(t) for t in terms)
        return numpy.linalg.norm(terms[0] - terms[1] - terms[2]) / largest if largest else 0.0

    def project(self, z):
        """Euclidean projection of every row on its cone |z_T| <= mu z_N, |z_R| <= mu_r z_N.

        For a given normal part n the nearest point cuts both lengths to mu n and mu_r n, so what is
        left is the minimum over n >= 0 of a convex function with a piecewise linear derivative
            (n - z_N) - mu max(0, |z_T| - mu n) - mu_r max(0, |z_R| - mu_r n),
        whose root is on one of the four pieces.
        """
        out = numpy.zeros_like(z)
        for k in range(self.count):
            mu, mu_r = self.mu[k], self.mu_r[k]
            split = [1, self.width if self.width < 5 else 3]
            t, s = z[k, split[0]:split[1]], z[k, split[1]:]
            length, turn = numpy.linalg.norm(t), numpy.linalg.norm(s)

            def slope(n):
                return n - z[k, 0] - mu * max(0, length - mu * n) - mu_r * max(0, turn - mu_r * n)

            roots = []
            for a in (0, 1):
                for b in (0, 1):
                    top = z[k, 0] + a * mu * length + b * mu_r * turn
                    roots.append(top / (1 + a * mu**2 + b * mu_r**2))
            n = max(0.0, min(roots, key=lambda root: abs(slope(root))))
            out[k, 0] = n
            out[k, split[0]:split[1]] = t * (min(1, mu * n / length) if length > 0 else 0)
            if self.width == 5:
                out[k, 3:] = s * (min(1, mu_r * n / turn) if turn > 0 else 0)
        return out

    def error(self, r, u=None, v=None):
        """The community's error; u and v as given, or as they follow from r."""
        if u is None:
            u, v = self.velocity(r)
        flat = r
        r, u = r.reshape(-1, self.width), u.reshape(-1, self.width)
        split = self.width if self.width < 5 else 3
        moved = u.copy()
        moved[:, 0] += self.mu * numpy.linalg.norm(u[:, 1:split], axis=1)
        if self.width == 5:
            moved[:, 0] += self.mu_r * numpy.linalg.norm(u[:, 3:], axis=1)
        e = numpy.linalg.norm(r - self.project(r - moved))
        size = max(numpy.linalg.norm(self.q), numpy.linalg.norm(r), numpy.linalg.norm(u))
        error = e / size if size > 0 else e
        return error + self.balance(flat, v) if self.is_global else error
