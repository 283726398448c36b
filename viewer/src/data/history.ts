// What needs more than one frame: how a field is spread over all of them, and the ways of grains.
import type { Frames } from "./frames";
import { Spread } from "./scale";
import type { Numbers } from "./source";

const NUMBERS = 3e7; // of all frames together; of larger runs only every nth frame is looked at
const SAMPLES = 300000; // that are kept to find percentiles

/** The spread of numbers over the frames; `valuesOf` a frame without them may fail. */
export async function spreadOverFrames(count: number, grains: number, valuesOf: (frame: number) => Promise<Float32Array>,
                                       onProgress: (done: number, of: number) => void): Promise<Spread> {
    const stride = Math.max(1, Math.ceil((count * Math.max(grains, 1)) / NUMBERS));
    const chosen = Array.from({ length: Math.ceil(count / stride) }, (_, i) => count - 1 - i * stride);
    const spread = new Spread();
    for (const [done, frame] of chosen.entries()) {
        const values = await valuesOf(frame).catch(() => new Float32Array(0));
        spread.add(values, Math.max(Math.floor(SAMPLES / chosen.length), 200));
        onProgress(done + 1, chosen.length);
    }
    return spread;
}

/** Where some grains were in the frames from `first` to `last`: x, y, z each; NaN while a grain was not
 *  there. */
export async function waysOf(frames: Frames, ids: number[], first: number, last: number, dim: 2 | 3): Promise<Float64Array[]> {
    const count = last - first + 1;
    const ways = ids.map(() => new Float64Array(3 * count).fill(NaN));
    const loaded = await Promise.all(Array.from({ length: count }, (_, i) => Promise.all([
        frames.array(first + i, "grains", "id"), frames.array(first + i, "grains", "position")])));
    loaded.forEach(([id, position], i) => {
        const rows = rowsOf(id, ids);
        ways.forEach((way, n) => {
            if (rows[n] < 0) return;
            for (let k = 0; k < 3; k++) way[3 * i + k] = k < dim ? position[dim * rows[n] + k] : 0;
        });
    });
    return ways;
}

/** Row of each identity, -1 if it is not there. */
export function rowsOf(id: Numbers, wanted: number[]): number[] {
    const set = new Map(wanted.map((w, n) => [w, n]));
    const rows = new Array<number>(wanted.length).fill(-1);
    for (let row = 0; row < id.length; row++) {
        const n = set.get(id[row]);
        if (n !== undefined) rows[n] = row;
    }
    return rows;
}
