// The grains of one frame as the scene needs them: single precision relative to an origin amid the
// grains, turns as quaternions x y z w, and which rows are drawn by which geometry.
import { Box3, Vector3 } from "three";
import type { Numbers } from "../data/source";
import type { BallRows } from "./balls";
import type { SolidRows } from "./solids";

export interface Packing {
    count: number;
    centre: Float32Array;
    radius: Float32Array;
    /** [count][4]; of balls in 2D, too, for their marks. */
    turn: Float32Array;
    size: Float32Array;
    /** Shape, -1 for a ball. */
    solid: Int32Array;
    /** Rows of the balls, then of the grains of each shape. */
    ballRows: Int32Array;
    solidRows: Int32Array[];
}

export interface GrainArrays {
    position: Numbers;
    radius: Numbers;
    rotation?: Numbers;
    solid?: Numbers;
    scale?: Numbers;
}

export function makePacking(arrays: GrainArrays, dim: 2 | 3, solids: number, origin: Vector3): Packing {
    const count = arrays.radius.length;
    const centre = new Float32Array(3 * count);
    for (let row = 0; row < count; row++) {
        for (let k = 0; k < dim; k++) centre[3 * row + k] = arrays.position[dim * row + k] - origin.getComponent(k);
    }
    const solid = new Int32Array(count).fill(-1);
    const sizes = new Int32Array(solids + 1);
    for (let row = 0; row < count; row++) {
        if (arrays.solid && arrays.solid[row] < solids) solid[row] = arrays.solid[row];
        sizes[solid[row] + 1]++;
    }
    const [balls, ...others] = Array.from(sizes, (size) => new Int32Array(size));
    const filled = new Int32Array(solids + 1);
    for (let row = 0; row < count; row++) {
        const kind = solid[row] + 1;
        (kind === 0 ? balls : others[kind - 1])[filled[kind]++] = row;
    }
    return {
        count, centre, solid, ballRows: balls, solidRows: others,
        radius: new Float32Array(arrays.radius),
        turn: quaternions(arrays.rotation, count, dim),
        size: arrays.scale ? new Float32Array(arrays.scale) : new Float32Array(count).fill(1),
    };
}

function quaternions(rotation: Numbers | undefined, count: number, dim: 2 | 3): Float32Array {
    const turn = new Float32Array(4 * count);
    for (let row = 0; row < count; row++) {
        if (!rotation) {
            turn[4 * row + 3] = 1;
        } else if (dim === 2) {
            turn[4 * row + 2] = Math.sin(rotation[row] / 2);
            turn[4 * row + 3] = Math.cos(rotation[row] / 2);
        } else {
            for (let k = 0; k < 4; k++) turn[4 * row + ((k + 3) & 3)] = rotation[4 * row + k]; // w x y z in the file
        }
    }
    return turn;
}

/** The rows `rows` of an array with `width` numbers in each. */
export function gather(data: Float32Array, rows: Int32Array, width: number): Float32Array {
    const out = new Float32Array(rows.length * width);
    for (let i = 0; i < rows.length; i++) {
        for (let k = 0; k < width; k++) out[i * width + k] = data[rows[i] * width + k];
    }
    return out;
}

export function ballsOf(p: Packing): BallRows {
    return { rows: p.ballRows, centre: p.centre, radius: p.radius,
             angle: (row) => 2 * Math.atan2(p.turn[4 * row + 2], p.turn[4 * row + 3]) };
}

export function solidsOf(p: Packing, shape: number): SolidRows {
    const rows = p.solidRows[shape];
    return {
        count: rows.length,
        centre: gather(p.centre, rows, 3),
        turn: gather(p.turn, rows, 4),
        size: gather(p.size, rows, 1),
    };
}

/** The box about all grains, relative to the origin. Infinite numbers are left out. */
export function boundsOf(p: Packing): Box3 {
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < 3 * p.count; i++) {
        const x = p.centre[i];
        const r = p.radius[(i / 3) | 0];
        if (!Number.isFinite(x)) continue;
        if (x - r < low[i % 3]) low[i % 3] = x - r;
        if (x + r > high[i % 3]) high[i % 3] = x + r;
    }
    return new Box3(new Vector3(...low), new Vector3(...high));
}
