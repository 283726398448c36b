// The arrays of the frames, fetched when somebody asks for them and kept as long as there is room:
// the ones asked for longest ago go first. A request under way is shared.
import type { Field, Run, Surface, TableName } from "./run";
import { DataError, type Numbers, type Source } from "./source";

const ROOM = 400e6; // bytes

interface Kept {
    promise: Promise<unknown>;
    bytes: number;
}

export class Frames {
    private readonly kept = new Map<string, Kept>();
    private bytes = 0;
    /** Requests made so far, for tests. */
    requests = 0;

    constructor(private readonly source: Source, private run: Run) {}

    update(run: Run): void {
        this.run = run;
    }

    field(table: TableName, name: string): Field | undefined {
        return this.run.fields[table].find((f) => f.name === name);
    }

    /** All numbers of a field in a frame, row after row. */
    array(frame: number, table: TableName, name: string): Promise<Numbers> {
        const field = this.field(table, name);
        if (!field) {
            return Promise.reject(new DataError(`The ${table} of this run have no field '${name}'.`));
        }
        const path = `api/frame/${frame}/${table}/${name}`;
        return this.keep(path, () => this.source.array(path, field.type), (a) => a.byteLength);
    }

    surface(frame: number): Promise<Surface> {
        const path = `api/frame/${frame}/surface.json`;
        return this.keep(path, () => this.source.json<Surface>(path), (s) => 8 * s.points.length);
    }

    private keep<T>(path: string, get: () => Promise<T>, size: (t: T) => number): Promise<T> {
        const old = this.kept.get(path);
        if (old) {
            this.kept.delete(path); // to the end of the map: used last
            this.kept.set(path, old);
            return old.promise as Promise<T>;
        }
        this.requests++;
        const entry: Kept = { promise: get(), bytes: 0 };
        this.kept.set(path, entry);
        (entry.promise as Promise<T>).then(
            (value) => {
                if (this.kept.get(path) !== entry) return; // it had to go meanwhile
                entry.bytes = size(value);
                this.bytes += entry.bytes;
                this.makeRoom();
            },
            () => {
                if (this.kept.get(path) === entry) this.kept.delete(path); // so that it is tried again
            },
        );
        return entry.promise as Promise<T>;
    }

    private makeRoom(): void {
        for (const [path, entry] of this.kept) {
            if (this.bytes <= ROOM) return;
            if (entry.bytes === 0) continue; // under way, or nothing to gain
            this.bytes -= entry.bytes;
            this.kept.delete(path);
        }
    }
}
