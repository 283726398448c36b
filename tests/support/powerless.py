"""A disk that forgets: what a power cut may leave of the calls that `faults --log` has written down.

The model is harsher than most file systems. The bytes of a file are safe once it was synced; of those
written later any part may be there. A name is safe once its folder was synced; of what was done to
names later, what came first is done first. So a new name may stand for a file without its bytes."""
import os
import shutil
from pathlib import Path

EXCHANGE = 2  # renameat2


def read_log(data):
    """[(kind, number, path, second path, bytes)] of the calls."""
    calls, at = [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        kind, number, size, path = data[at:end].decode().split(" ", 3)
        after = data.index(b"\n", end + 1)
        second = data[end + 1:after].decode()
        at = after + 1
        calls.append((kind, int(number), os.path.normpath(path), os.path.normpath(second) if second else "",
                      data[at:at + int(size)]))
        at += int(size)
    return calls


class Stored:
    """A file whatever its name."""

    def __init__(self, safe=b""):
        self.safe, self.pending = bytearray(safe), []

    def do(self, change):
        self.pending.append(change)

    def sync(self):
        for change in self.pending:
            apply(self.safe, change)
        self.pending = []

    def after_loss(self, chance):
        """All that was written, nothing of what was not synced, or some of it."""
        choice = chance.randrange(3)
        content = bytearray(self.safe)
        for change in self.pending:
            if choice == 0 or (choice == 1 and chance.random() < 0.5):
                apply(content, change)
        return bytes(content)


def apply(content, change):
    place, data = change
    if data is None:  # cut, or grown if negative
        size = place if place >= 0 else max(len(content), -place)
        del content[size:]
        content.extend(bytes(size - len(content)))
    else:
        if len(content) < place:
            content.extend(bytes(place - len(content)))
        content[place:place + len(data)] = data


class Disk:
    """Begins with what is in the folder, safe."""

    def __init__(self, folder):
        self.safe = {}  # names: a Stored, or None for a folder
        for path in sorted(Path(folder).rglob("*")):
            self.safe[str(path)] = None if path.is_dir() else Stored(path.read_bytes())
        self.names = dict(self.safe)
        self.changes = []  # of names: (folders, what is done to a dictionary, safe)

    def rename(self, do, *paths):
        self.changes.append([{os.path.dirname(p) for p in paths}, do, False])
        do(self.names)

    def do(self, calls):
        for kind, number, path, second, data in calls:
            if kind == "make":
                self.rename(lambda names, p=path: names.__setitem__(p, None), path)
            elif kind == "remove":
                self.rename(lambda names, p=path: names.pop(p, None), path)
            elif kind == "rename" and number == EXCHANGE:
                def exchange(names, a=path, b=second):
                    if a in names and b in names:
                        names[a], names[b] = names[b], names[a]
                self.rename(exchange, path, second)
            elif kind == "rename":
                def move(names, a=path, b=second):
                    if a in names:
                        names[b] = names.pop(a)
                self.rename(move, path, second)
            elif kind == "open":
                if path not in self.names:
                    new = Stored()
                    self.rename(lambda names, p=path, f=new: names.__setitem__(p, f), path)
                elif number == 1:
                    self.names[path].do((0, None))
            elif kind in ("write", "cut"):
                self.names[path].do((number, data if kind == "write" else None))
            elif kind == "sync" and self.names.get(path) is not None:
                self.names[path].sync()
            elif kind == "sync":
                for change in self.changes:
                    change[2] = change[2] or path in change[0]

    def lose_power(self, chance):
        kept = chance.randrange(len(self.changes) + 1)
        self.names = dict(self.safe)
        for number, (_, do, safe) in enumerate(self.changes):
            if safe or number < kept:
                do(self.names)
        self.content = {name: None if f is None else f.after_loss(chance) for name, f in self.names.items()}

    def write(self, folder):
        """Put what is left in place of what is there."""
        for path in Path(folder).iterdir():
            shutil.rmtree(path)
        for name, content in sorted(self.content.items()):
            if content is None:
                os.makedirs(name, exist_ok=True)
            elif os.path.isdir(os.path.dirname(name)):
                Path(name).write_bytes(content)
