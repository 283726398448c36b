"""talus view from outside: who may ask, what is answered, against h5py; files that come and go; a
run that goes on; pages that need no server. Nothing here measures time: what is waited for is polled
for half a minute at most."""
import base64
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import zlib
from pathlib import Path

import h5py
import numpy

from record_sample import write_sample

TALUS = os.environ["TALUS"]
TINY = str(Path(__file__).resolve().parents[1] / "scenes" / "tiny.yaml")
SEED = int(os.environ.get("TALUS_TEST_SEED", "1"))
PATIENCE = 30.0
TYPES = {"f64": "<f8", "f32": "<f4", "i64": "<i8", "i32": "<i4", "u8": "u1"}
EVIL_TITLE = "a </script> <b>&\"\\ title"


def talus(*arguments):
    return subprocess.run([TALUS, *map(str, arguments)], capture_output=True, text=True, timeout=200)


class Server:
    """`talus view` of a folder; its end is checked, too."""

    def __init__(self, folder):
        self.process = subprocess.Popen([TALUS, "view", str(folder), "--no-open"], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.address = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32})/", self.address)
        assert match, (self.address, self.process.communicate())
        self.port, self.secret = int(match.group(1)), match.group(2)
        assert "Ctrl-C" in self.process.stdout.readline()

    def ask(self, path, method="GET", **headers):
        """Status, headers and body of one request behind the secret; a header given as None is left out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Host": f"127.0.0.1:{self.port}",
                   **{key.replace("_", "-"): value for key, value in headers.items()}}
        connection.putrequest(method, self.secret + path, skip_host=True, skip_accept_encoding=True)
        for key, value in headers.items():
            if value is not None:
                connection.putheader(key, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def json(self, path):
        status, headers, body = self.ask(path)
        assert status == 200, (path, status, body)
        assert headers["Content-Type"] == "application/json"
        return json.loads(body)

    def array(self, frame, table, field):
        status, headers, body = self.ask(f"/api/frame/{frame}/{table}/{field}")
        assert status == 200, (frame, table, field, status, body)
        flat = numpy.frombuffer(body, TYPES[headers["X-Talus-Type"]])
        return flat.reshape(-1, int(headers["X-Talus-Width"]))

    def raw(self, data, patience=PATIENCE):
        """Send bytes; what comes back until the server closes or has said nothing for so long."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as line:
            received = b""
            try:
                line.sendall(data)
                line.settimeout(patience)
                while piece := line.recv(65536):
                    received += piece
            except OSError:
                pass
            return received

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        output, errors = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, (self.process.returncode, output, errors)
        assert errors == "", errors


def poll(ready, what):
    """What `ready` returns once it is true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if answer := ready():
            return answer
        time.sleep(0.05)
    raise AssertionError(f"waited {PATIENCE} s for {what}")


def columns_as_stored(folder):
    """What run.json must say about fields: from the attributes of the newest frame."""
    names = {"float64": "f64", "int64": "i64", "int32": "i32", "uint8": "u8"}
    with h5py.File(folder / "frames.h5") as file:
        newest = file["frames"][sorted(file["frames"])[-1]]
        fields = {}
        for table in ["grains", "contacts", "walls"]:
            fields[table] = [
                {"name": name, "type": names[data.dtype.name],
                 "width": (data.shape[1] if data.ndim == 2 else 1) * (1 + (name == "segment")),
                 "unit": data.attrs["unit"], "description": data.attrs["description"]}
                for name, data in sorted(newest[table].items())
                if data.dtype.name in names]
        return fields


class View(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="talus-view-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.run_folder = cls.root / "run"
        done = talus("run", TINY, "-o", cls.run_folder, "--quiet", "--steps", 120, "--set",
                     f"title={json.dumps(EVIL_TITLE)}")
        assert done.returncode == 0, done.stderr
        probe = talus("view", cls.run_folder, "--export", cls.root / "probe.html")
        if "without the viewer" in probe.stderr:
            assert probe.returncode == 1, probe
            raise unittest.SkipTest("this build has no viewer, and says so")
        cls.server = Server(cls.run_folder)
        cls.addClassCleanup(cls.server.end, signal.SIGINT)

    def assert_alive(self):
        self.assertIsNone(self.server.process.poll())
        self.assertEqual(self.server.ask("/api/run.json")[0], 200)

    def assert_sentence(self, answer, status):
        """An error is one line of plain text."""
        self.assertEqual(answer[0], status, answer)
        self.assertTrue(answer[1]["Content-Type"].startswith("text/plain"))
        self.assertRegex(answer[2].decode(), r"\A[^\n]+\n\Z")

    # ---- who may ask -----------------------------------------------------------------------------

    def test_loopback_only(self):
        sockets = set()
        for entry in Path(f"/proc/{self.server.process.pid}/fd").iterdir():
            try:
                if match := re.fullmatch(r"socket:\[(\d+)\]", os.readlink(entry)):
                    sockets.add(match.group(1))
            except FileNotFoundError:  # closed meanwhile
                pass
        listening = []
        for table in ["/proc/net/tcp", "/proc/net/tcp6"]:
            for row in Path(table).read_text().splitlines()[1:]:
                cells = row.split()
                if cells[3] == "0A" and cells[9] in sockets:
                    listening.append(cells[1])
        self.assertEqual(listening, [f"0100007F:{self.server.port:04X}"])

    def test_host(self):
        port = self.server.port
        for host in [f"127.0.0.1:{port}", f"localhost:{port}", f"LocalHost:{port}"]:
            self.assertEqual(self.server.ask("/", Host=host)[0], 200, host)
        for host in ["evil.example", f"evil.example:{port}", "127.0.0.1", "localhost", "",
                     f"127.0.0.1:{port}.evil.example", f"127.0.0.1:{port % 65535 + 1}",
                     f"[::1]:{port}", f"0.0.0.0:{port}"]:
            for path in ["/", "/api/run.json", "/nothing"]:
                self.assert_sentence(self.server.ask(path, Host=host), 421)
        own = f"Connection: close\r\nHost: 127.0.0.1:{port}\r\n"
        for request, status in [(f"GET {self.server.secret}/ HTTP/1.1\r\n{own}\r\n", b"200"),
                                (f"GET / HTTP/1.1\r\n{own}Host: evil.example\r\n\r\n", b"421"),
                                (f"GET / HTTP/1.1\r\n{own}Host: 127.0.0.1:{port}\r\n\r\n", b"421"),
                                ("GET / HTTP/1.0\r\n\r\n", b"421"),
                                ("GET / HTTP/1.1\r\n\r\n", b"400"),
                                (f"GET http://evil.example/ HTTP/1.1\r\n{own}\r\n", b"403")]:
            self.assertEqual(self.server.raw(request.encode()).split()[1], status, request)
        self.assert_alive()

    def test_secret(self):
        """Other users of the machine, who do not see what `talus view` prints, get nothing."""
        other = "/" + 32 * "0"
        for path in ["/", "/api/run.json", other + "/", other + "/api/run.json", self.server.secret,
                     self.server.secret[:-1] + "/", self.server.secret + "0/", "/" + self.server.secret + "/"]:
            request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\nConnection: close\r\n\r\n"
            received = self.server.raw(request.encode())
            self.assertEqual(received.split()[1], b"403", path)
            self.assertNotIn(self.server.secret[1:].encode(), received)
        again = Server(self.run_folder)
        again.end()
        self.assertNotEqual(again.secret, self.server.secret)

    def test_other_pages(self):
        port = self.server.port
        for headers in [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"},
                        {"Origin": f"http://127.0.0.1:{port % 65535 + 1}"}, {"Sec_Fetch_Site": "same-site"}]:
            for path in ["/", "/api/run.json"]:
                self.assert_sentence(self.server.ask(path, **headers), 403)
        for headers in [{"Origin": f"http://127.0.0.1:{port}", "Sec_Fetch_Site": "same-origin"},
                        {"Origin": f"http://localhost:{port}"}, {"Sec_Fetch_Site": "none"}]:
            self.assertEqual(self.server.ask("/api/run.json", **headers)[0], 200)

    def test_only_new_frames(self):
        """Who says which frames it knows gets the others, and all of them if it knows other frames."""
        whole = self.server.json("/api/run.json")
        count, frames = len(whole["frames"]), whole["frames"]
        self.assertGreater(count, 2)
        self.assertEqual(whole["first"], 0)
        none = self.server.json(f"/api/run.json?after={count}&mark={whole['mark']}")
        self.assertEqual((none["first"], none["frames"], none["mark"]), (count, [], whole["mark"]))
        for query in [f"?after={count}&mark={whole['mark'] + 1}", f"?after={count - 1}&mark={whole['mark']}",
                      f"?after={count + 1}&mark={whole['mark']}", "?after=-1&mark=0", "?after=1e9&mark=x", "?after="]:
            told = self.server.json("/api/run.json" + query)
            self.assertEqual((told["first"], told["frames"]), (0, frames), query)

    def test_methods(self):
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "X"]:
            answer = self.server.ask("/api/run.json", method)
            self.assert_sentence(answer, 405)
            self.assertEqual(answer[1]["Allow"], "GET, HEAD")
        for path in ["/", "/api/run.json", "/api/frame/0/grains/position", "/nothing"]:
            asked, looked = self.server.ask(path), self.server.ask(path, "HEAD")
            self.assertEqual(looked[0], asked[0])
            self.assertEqual(looked[2], b"")
            self.assertEqual(looked[1]["Content-Length"], str(len(asked[2])))
        self.assert_sentence(self.server.ask("/", Content_Length="5"), 400)

    def test_headers(self):
        for path in ["/", "/api/run.json", "/api/frame/0/grains/id", "/nothing"]:
            _, headers, _ = self.server.ask(path, Origin="http://evil.example")
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
            self.assertNotRegex(headers["Content-Security-Policy"], r"https?:|\*")
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
            self.assertFalse([key for key in headers if key.lower().startswith("access-control")])
        tag = self.server.ask("/api/run.json")[1]["ETag"]
        again = self.server.ask("/api/run.json", If_None_Match=tag)
        self.assertEqual((again[0], again[2]), (304, b""))
        self.assertEqual(self.server.ask("/api/run.json", If_None_Match='"other"')[0], 200)

    def test_paths(self):
        secret = self.root / "secret.csv"
        secret.write_text("secret")
        for path in ["/api", "/api/", "/api/frame", "/api/frame/", "/api/frame/0", "/api/frame/0/",
                     "/api/frame/0/grains", "/api/frame/0/grains/", "/api/frame/0/grains/nothing",
                     "/api/frame/0/walls/name",
                     "/api/frame/0/stones/position", "/api/frame/0/grains/position/",
                     "/api/frame/0/grains/../walls/position", "/api/frame/0/grains/./position",
                     "/api/frame/-1/grains/position", "/api/frame/+0/grains/position",
                     "/api/frame/0x0/grains/position", "/api/frame/1e0/grains/position",
                     "/api/frame/99999/grains/position", "/api/frame/99999/surface.json",
                     "/api/frame/" + 30 * "9" + "/surface.json", "/api/frame/ 0/surface.json",
                     "/api/frame/0/grains/" + 300 * "a", "/run.json", "/scene.yaml", "/frames.h5",
                     "/api/../scene.yaml", "/../secret.csv", "/..%2fsecret.csv",
                     "/%2e%2e/secret.csv", "/api/%2e%2e/%2e%2e/secret.csv", "/api/series.csv%00",
                     "/api/series%2ecsv", "/api/run.json%", "/%", "/%zz", "/api/frame/%30/surface.json",
                     "//", "//api/run.json", "/api//run.json", "/API/RUN.JSON", "/api\\run.json",
                     "/etc/passwd", "/" + 9000 * "a"]:
            request = (f"GET {self.server.secret}{path} HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n"
                       "Connection: close\r\n\r\n")
            received = self.server.raw(request.encode())
            self.assertNotIn(b" 200 ", received.split(b"\r\n")[0], path)
            self.assertNotIn(b"secret\n", received, path)
            self.assertNotIn(b"root:", received, path)
        self.assertEqual(self.server.ask("/?x=%zz&y")[0], 200)
        self.assert_alive()

    # ---- garbage ---------------------------------------------------------------------------------

    def test_garbage(self):
        noise = random.Random(SEED)
        host = f"Host: 127.0.0.1:{self.server.port}\r\n".encode()
        good = f"GET {self.server.secret}/api/run.json HTTP/1.1\r\n".encode() + host + b"\r\n"
        cases = [noise.randbytes(noise.randrange(1, 3000)) for _ in range(30)]
        for _ in range(30):  # a good request with some bytes turned
            broken = bytearray(good)
            for _ in range(noise.randrange(1, 6)):
                broken[noise.randrange(len(broken))] = noise.randrange(256)
            cases.append(bytes(broken))
        cases += [good[:noise.randrange(1, len(good))] for _ in range(10)]
        cases += [b"", b"\r\n", b"\r\n\r\n", b"\0", b"GET", b"GET /\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                  b"GET /\0 HTTP/1.1\r\n" + host + b"\r\n",
                  b"GET / HTTP/1.1\r\n" + host + b"X: " + 100000 * b"a" + b"\r\n\r\n",
                  b"GET / HTTP/1.1\r\n" + host + 5000 * b"X: y\r\n" + b"\r\n",
                  b"GET /" + 200000 * b"a" + b" HTTP/1.1\r\n" + host + b"\r\n",
                  b"GET / HTTP/1.1\r\n" + host + b"Content-Length: 99999999999999999999\r\n\r\n",
                  b"GET / HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n",
                  b"GET / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"]
        for case in cases:
            self.server.raw(case, patience=0.01)
        last = good[:-2] + b"Connection: close\r\n\r\n"
        self.assertEqual(self.server.raw(20 * good + last).count(b"HTTP/1.1 200 OK"), 21)
        self.assert_alive()

    def test_many_requests(self):
        """10 000 of them with TALUS_ATTACK=1: whole, changed, cut off, and whole ones after another."""
        noise = random.Random(SEED + 1)
        host = f"Host: 127.0.0.1:{self.server.port}\r\n".encode()
        paths = ["/", "/api/run.json", "/api/shapes.json", "/api/series.csv", "/api/frame/0/surface.json",
                 "/api/frame/1/grains/position", "/api/frame/99/walls/id", "/nothing"]
        for _ in range(10000 if "TALUS_ATTACK" in os.environ else 100):
            request = bytearray(f"GET {self.server.secret}{noise.choice(paths)} HTTP/1.1\r\n".encode() + host +
                                b"Connection: close\r\n\r\n")
            kind = noise.randrange(3)
            for _ in range(noise.randrange(1, 8) if kind == 1 else 0):
                request[noise.randrange(len(request))] = noise.randrange(256)
            if kind == 2:
                request = request[:noise.randrange(len(request))]
            received = self.server.raw(bytes(request), patience=0.01 if kind else PATIENCE)
            if kind == 0:
                self.assertRegex(received[:20], rb"HTTP/1.1 (200|404) ")
        self.assert_alive()

    def test_slow_clients(self):
        """Those that send a byte now and then do not keep others out, however many they are."""
        lines = []
        for _ in range(300):
            line = socket.socket()
            line.setblocking(False)
            line.connect_ex(("127.0.0.1", self.server.port))
            lines.append(line)

        def trickle_and_ask():
            for line in lines:
                try:
                    line.send(b"G")
                except OSError:  # not yet taken, or closed
                    pass
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=0.5)
            try:
                connection.request("GET", self.server.secret + "/api/run.json")
                answer = connection.getresponse()
                return answer.read() and answer.status == 200
            except OSError:
                return False
            finally:
                connection.close()
        poll(trickle_and_ask, "an answer beside 300 slow clients")
        for line in lines:
            line.close()
        self.assert_alive()

    def test_many_connections(self):
        lines = [socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)
                 for _ in range(200)]
        for i, line in enumerate(lines):
            line.sendall(b"GET / HT" if i % 2 else b"GET /api/frame/0/grains/position HTTP/1.1\r\n")
        self.assert_alive()
        for line in lines:
            line.close()
        self.assert_alive()

    # ---- numbers ---------------------------------------------------------------------------------

    def check_folder(self, server, folder):
        """Every field of every frame, and what run.json and shapes.json say, against h5py."""
        told = server.json("/api/run.json")
        self.assertEqual(told["fields"], columns_as_stored(folder))
        with h5py.File(folder / "frames.h5") as file:
            self.assertEqual(told["dim"], file.attrs["dimension"])
            self.assertEqual(told["reduced_units"], file.attrs["units"] == "reduced")
            self.assertEqual(len(told["frames"]), file.attrs["frame_count"])
            for number, name in enumerate(sorted(file["frames"])):
                frame, head = file["frames"][name], told["frames"][number]
                for key in ["time", "step", "grains", "walls"]:
                    self.assertEqual(head[key], frame.attrs[key], key)
                self.assertEqual(head["contacts"], frame.attrs.get("contacts", -1))
                for key in ["cell_low", "cell_high", "periodic"]:
                    self.assertEqual(head[key], list(frame.attrs[key]), key)
                for table, fields in told["fields"].items():
                    for field in fields:
                        array = server.array(number, table, field["name"])
                        stored = frame[table][field["name"]][()]
                        self.assertEqual(array.dtype, numpy.dtype(TYPES[field["type"]]))
                        self.assertEqual(array.shape, (head[table], field["width"]))
                        self.assertEqual(array.tobytes(), stored.tobytes(), (name, table, field))
                self.check_surface(server, number, frame)
            names = [name.decode() for name in frame["walls/name"]]
            self.assertEqual(told["wall_names"], names)
            if (folder / "series.csv").exists():
                self.check_units(told, (folder / "series.csv").read_text().split("\n")[0].split(","))
            self.check_shapes(server, file)

    def check_units(self, told, columns):
        """Units of the series as docs/files.md has them; none where the run has reduced units."""
        self.assertEqual(list(told["series_units"]), columns)
        known = {"time": "s", "kinetic_energy": "J", "grains": "", "overlap_max": "mean diameter", "step_length": "s",
                 f"{told['wall_names'][0]}_force_x": "N", f"{told['wall_names'][0]}_position_x": "m"}
        for column in set(known) & set(columns):
            self.assertEqual(told["series_units"][column], "" if told["reduced_units"] else known[column], column)

    def check_shapes(self, server, file):
        shapes, stored = server.json("/api/shapes.json"), file["shapes/solids"]
        self.assertEqual([shape["name"] for shape in shapes], [n.decode() for n in stored["name"]])
        self.assertEqual([shape["radius"] for shape in shapes], list(stored["radius"]))
        part = 0
        first, faces, loops = (stored[key][()] for key in ["vertex_first", "face_first", "loop_first"])
        for row, shape in enumerate(shapes):
            self.assertEqual(part, stored["part_first"][row])
            for drawn in shape["parts"]:
                expected = stored["vertex"][first[part]:first[part + 1]]
                self.assertEqual(drawn["vertex"], expected.tolist())
                expected = [(stored["loop"][loops[f]:loops[f + 1]] - first[part]).tolist()
                            for f in range(faces[part], faces[part + 1])]
                self.assertEqual(drawn["faces"], expected)
                part += 1
        self.assertEqual(part + 1, len(first))

    def check_surface(self, server, number, frame):
        surface = server.json(f"/api/frame/{number}/surface.json")
        points = numpy.reshape(surface["points"], (-1, 3))
        self.assertEqual(len(surface["cells"]), len(surface["owner"]))
        self.assertLessEqual(surface["lines"], len(surface["cells"]))
        present = numpy.flatnonzero(frame["walls/present"][()])
        self.assertEqual(set(surface["owner"]), set(present))
        for cell in surface["cells"]:
            self.assertTrue(all(0 <= corner < len(points) for corner in cell))

    def test_numbers_of_samples(self):
        for dim, kind in [(2, "whole"), (3, "linked")]:
            sample = write_sample(dim)
            self.addCleanup(sample.cleanup)
            folder = Path(sample.name) / kind
            server = Server(folder)
            self.addCleanup(server.end)
            self.check_folder(server, folder)
            self.assertEqual(server.json("/api/run.json")["title"], kind)

    def test_numbers_of_a_run(self):
        told = self.server.json("/api/run.json")
        self.assertEqual(told["title"], EVIL_TITLE)
        self.assertEqual(told["version"], talus("--version").stdout.split()[1])
        self.assertIs(told["running"], False)
        self.assertIs(told["export"], False)
        status, headers, body = self.server.ask("/api/series.csv")
        self.assertEqual((status, body), (200, (self.run_folder / "series.csv").read_bytes()))
        self.assertTrue(headers["Content-Type"].startswith("text/csv"))
        # The box of tiny.yaml before it moves: three lines, the top is open.
        surface = self.server.json("/api/frame/0/surface.json")
        points = numpy.reshape(surface["points"], (-1, 3))
        lines = [{tuple(points[corner]) for corner in cell}
                 for cell, owner in zip(surface["cells"], surface["owner"]) if owner == 0]
        low, high = (0.0, 0.0, 0.0), (0.12, 0.3, 0.0)
        right, left = (high[0], low[1], 0.0), (low[0], high[1], 0.0)
        self.assertEqual(len(lines), 3)
        for line in [{low, left}, {low, right}, {right, high}]:
            # centre plus half size, each rounded once: two units in the last place of 0.3
            self.assertTrue(any(all(min(numpy.abs(numpy.subtract(a, b)).max() for b in other) < 1.2e-16
                                    for a in line) for other in lines), (line, lines))

    def test_page(self):
        status, headers, body = self.server.ask("/")
        self.assertEqual(status, 200)
        self.assertTrue(headers["Content-Type"].startswith("text/html"))
        self.assertEqual(body.count(b"<!--talus-data-->"), 1)

    # ---- files that come and go ------------------------------------------------------------------

    def test_vanishing_files(self):
        folder, away = self.root / "moving", self.root / "away"
        shutil.copytree(self.run_folder, folder)
        server = Server(folder)
        self.addCleanup(server.end)
        before = server.json("/api/run.json")
        paths = ["/api/run.json", "/api/shapes.json", "/api/frame/1/grains/position",
                 "/api/frame/1/surface.json"]

        def assert_gone(*more):
            for path in [*paths, *more]:
                self.assert_sentence(server.ask(path), 503)
            self.assertEqual(server.ask("/")[0], 200)

        folder.rename(away)
        assert_gone("/api/series.csv")
        away.rename(folder)
        self.assertEqual(server.json("/api/run.json"), before)

        frames = folder / "frames.h5"
        good = frames.read_bytes()
        for bad in [b"", b"no HDF5 file", good[:2000], good[:len(good) // 2],
                    good[:600] + bytes(400) + good[1000:]]:
            (folder / "next").write_bytes(bad)
            (folder / "next").rename(frames)
            self.assertIn(server.ask(paths[0])[0], (200, 503))
            for path in paths:
                self.assertIn(server.ask(path)[0], (200, 404, 503))
        frames.unlink()
        assert_gone()
        (folder / "next").write_bytes(good)
        (folder / "next").rename(frames)
        self.check_folder(server, folder)
        (folder / "series.csv").write_text("step,time\n1,2\n3,")
        self.assertEqual(server.ask("/api/series.csv")[2], b"step,time\n1,2\n")
        (folder / "series.csv").unlink()
        self.assert_sentence(server.ask("/api/series.csv"), 503)
        os.mkfifo(folder / "series.csv")  # nobody will ever write into it
        self.assert_sentence(server.ask("/api/series.csv"), 503)

    def test_pipes(self):
        """In place of files of the run: nobody writes into them, and the server does not wait for that."""
        for name in ["frames.h5", "scene.yaml", "series.csv"]:
            folder = self.root / f"pipe-{name}"
            shutil.copytree(self.run_folder, folder)
            (folder / name).unlink()
            os.mkfifo(folder / name)
            exported = talus("view", folder, "--export", self.root / f"{name}.html")
            self.assertEqual(exported.returncode, 0 if name == "scene.yaml" else 1, exported.stderr)
            server = Server(folder)
            status = server.ask("/api/run.json")[0]
            self.assertEqual(status, 503 if name == "frames.h5" else 200, name)
            server.end()

    def test_replaced_run(self):
        """A run done anew with other numbers under the same times."""
        folder = self.root / "anew"
        arguments = ["run", TINY, "-o", folder, "--quiet", "--steps", 30]
        self.assertEqual(talus(*arguments).returncode, 0)
        server = Server(folder)
        self.addCleanup(server.end)
        self.check_folder(server, folder)
        before = server.json("/api/run.json")
        done = talus(*arguments, "--force", "--set", "grains.0.counts=[3,3]")
        self.assertEqual(done.returncode, 0, done.stderr)
        after = server.json("/api/run.json")
        self.assertNotEqual(after["generation"], before["generation"])
        self.assertNotEqual(after["identity"], before["identity"])
        self.assertEqual(server.ask("/api/series.csv")[1]["X-Talus-Run"], str(after["identity"]))
        self.assertEqual(after["frames"][0]["grains"], 9)
        self.check_folder(server, folder)

    def test_foreign_data(self):
        """What is outside of the folder is not shown, whatever the files in it say."""
        folder, secret = self.root / "foreign", self.root / "secret.bin"
        shutil.copytree(self.run_folder, folder)
        secret.write_bytes(bytes(range(64)))
        with h5py.File(folder / "frames.h5", "r+") as file:
            grains = file["frames/000000/grains"]
            grains.create_dataset("stolen", (64,), "u1", external=[(str(secret), 0, 64)])
            shutil.copy(self.run_folder / "frames.h5", self.root / "other.h5")
            grains["linked"] = h5py.ExternalLink(str(self.root / "other.h5"), "/frames/000000/grains/mass")
            del file["frames/000001"]
            file["frames/000001"] = h5py.ExternalLink("../other.h5", "/frames/000001")
        done = talus("view", folder, "--no-open")
        self.assertEqual(done.returncode, 1)
        self.assertIn('a link to "../other.h5"', done.stderr)
        with h5py.File(folder / "frames.h5", "r+") as file:
            del file["frames/000001"]
            file.copy("frames/000000", "frames/000001")
        server = Server(folder)
        self.addCleanup(server.end)
        self.assert_sentence(server.ask("/api/frame/0/grains/stolen"), 404)
        self.assert_sentence(server.ask("/api/frame/0/grains/linked"), 404)
        for name, path in [("series.csv", "/api/series.csv"), ("frames.h5", "/api/run.json")]:
            (folder / name).rename(self.root / f"foreign-{name}")
            (folder / name).symlink_to(self.root / f"foreign-{name}")
            answer = server.ask(path)
            self.assert_sentence(answer, 503)
            self.assertIn(b"out of the run's folder", answer[2])

    # ---- a run that goes on ----------------------------------------------------------------------

    def test_live(self):
        """Frames and rows are seen while the run goes on, long before its next checkpoint."""
        folder = self.root / "live"
        run = subprocess.Popen(
            [TALUS, "run", TINY, "-o", str(folder), "--quiet", "--checkpoint", "1e6", "--set",
             "phases.2.until={steps: 100000000}"], stderr=subprocess.PIPE)
        try:
            poll(lambda: (folder / "frames.h5").exists(), "the first frame")
            server = Server(folder)
            self.addCleanup(server.end)
            poll(lambda: server.ask("/api/run.json")[0] == 200, "the list of frames")
            first = server.json("/api/run.json")
            self.assertIs(first["running"], True)
            seen = len(first["frames"])
            for _ in range(2):
                told = poll(lambda: (lambda now: len(now["frames"]) > seen and now)(
                    server.json("/api/run.json")), "more frames")
                self.assertNotEqual(told["generation"], first["generation"])
                seen = len(told["frames"])
            with h5py.File(folder / "frames.h5") as file:
                frame = file["frames"][f"{seen - 1:06}"]
                self.assertEqual(frame.attrs["step"], told["frames"][-1]["step"])
                self.assertEqual(server.array(seen - 1, "grains", "position").tobytes(),
                                 frame["grains/position"][()].tobytes())
            rows = poll(lambda: (lambda text: text.count(b"\n") > 10 and text)(
                server.ask("/api/series.csv")[2]), "rows of the series")
            self.assertTrue(rows.endswith(b"\n"))
            self.assertEqual(len({line.count(b",") for line in rows.splitlines()}), 1)
            self.assertIsNone(run.poll())
            # The only checkpoint is that of step 0: nothing of this was shown by one.
            self.assertFalse((folder / "checkpoint.previous.h5").exists())
        finally:
            run.kill()
            run.communicate()
        poll(lambda: not server.json("/api/run.json")["running"], "the end of the run")
        # What was shown after the last checkpoint is computed again.
        self.assertEqual(talus("resume", folder, "--quiet", "--steps", 60).returncode, 0)
        self.assertLess(len(server.json("/api/run.json")["frames"]), seen)
        self.check_folder(server, folder)

    # ---- pages without a server ------------------------------------------------------------------

    def exported(self, path):
        text = path.read_text()
        match = re.findall(r'<script type="application/json" id="talus-data">(.*?)</script>', text,
                           re.DOTALL)
        self.assertEqual(len(match), 1)
        self.assertNotIn("<!--talus-data-->", text)
        self.assertNotIn("<", match[0])
        return json.loads(match[0])

    def check_export(self, data, folder, numbers):
        told = data["api/run.json"]
        self.assertIs(told["export"], True)
        self.assertIs(told["running"], False)
        self.assertEqual(data["api/series.csv"], (folder / "series.csv").read_text())
        expected = {"api/run.json", "api/shapes.json", "api/series.csv"}
        with h5py.File(folder / "frames.h5") as file:
            self.assertEqual(len(told["frames"]), len(numbers))
            for number, stored in enumerate(numbers):
                frame = file[f"frames/{stored:06}"]
                self.assertEqual(told["frames"][number]["step"], frame.attrs["step"])
                expected.add(f"api/frame/{number}/surface.json")
                for table, fields in columns_as_stored(folder).items():
                    for field in fields:
                        path = f"api/frame/{number}/{table}/{field['name']}"
                        expected.add(path)
                        item = data[path]
                        values = frame[table][field["name"]][()]
                        if values.dtype == numpy.float64:
                            values = values.astype("<f4")
                        self.assertEqual(numpy.dtype(TYPES[item["type"]]), values.dtype, path)
                        self.assertEqual(item["width"], field["width"])
                        self.assertEqual(zlib.decompress(base64.b64decode(item["data"], validate=True)),
                                         values.tobytes(), path)
        self.assertEqual(set(data), expected)
        listed = {(table, field["name"]): field["type"] for table, fields in told["fields"].items()
                  for field in fields}
        self.assertEqual(listed["grains", "position"], "f32")
        self.assertEqual(listed["grains", "id"], "i64")

    def test_export(self):
        page, count = self.root / "page.html", len(self.server.json("/api/run.json")["frames"])
        done = talus("view", self.run_folder, "--export", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rf"page\.html: {count} frames, [\d.]+ [kM]B")
        data = self.exported(page)
        self.assertEqual(data["api/run.json"]["title"], EVIL_TITLE)
        self.assertEqual(data["api/shapes.json"], self.server.json("/api/shapes.json"))
        self.assertEqual(data["api/frame/0/surface.json"],
                         self.server.json("/api/frame/0/surface.json"))
        self.check_export(data, self.run_folder, list(range(count)))
        self.assertFalse((self.root / "page.html.tmp").exists())

        before = page.read_bytes()
        done = talus("view", self.run_folder, "--export", page)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--force", done.stderr)
        self.assertEqual(page.read_bytes(), before)
        done = talus("view", self.run_folder, "--export", page, "--force", "--frame", "1:6",
                     "--every", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_export(self.exported(page), self.run_folder, [1, 3, 5])

    def test_refusals(self):
        for arguments, status, words in [
                (["nowhere"], 1, "no such directory"), ([self.root], 1, "neither frames.h5"),
                ([], 2, "missing"), ([self.run_folder, "x"], 2, "too many"),
                ([self.run_folder, "--prt", 1], 2, "did you mean '--port'"),
                ([self.run_folder, "--port", "x"], 2, "--port"),
                ([self.run_folder, "--port", 70000], 2, "65535"),
                ([self.run_folder, "--port", self.server.port], 1, "in use"),
                ([self.run_folder, "--frame", 2], 2, "--export"),
                ([self.run_folder, "--every", 2], 2, "--export"),
                ([self.run_folder, "--export", "a", "--every", 0], 2, "--every"),
                ([self.run_folder, "--export", "a", "--frame", "4:x"], 2, "A:B"),
                ([self.run_folder, "--export", "a", "--frame", "4:2"], 1, "backwards"),
                ([self.run_folder, "--export", "a", "--frame", "999"], 1, "999"),
                ([self.run_folder, "--export", self.root / "no" / "a"], 1, "no/a")]:
            done = talus("view", *arguments)
            self.assertEqual(done.returncode, status, (arguments, done))
            self.assertIn(words, done.stderr)
        broken = self.root / "broken"
        broken.mkdir()
        (broken / "frames.h5").write_text("something else")
        done = talus("view", broken)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a frames file", done.stderr)


if __name__ == "__main__":
    unittest.main()
