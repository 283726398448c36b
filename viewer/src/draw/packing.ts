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
    const solid = arrays.solid ? Int32Array.from(arrays.solid, (s) => (s < solids ? s : -1)) : new Int32Array(count).fill(-1);
    const rows: number[][] = Array.from({ length: solids + 1 }, () => []);
    for (let row = 0; row < count; row++) rows[solid[row] + 1].push(row);
    const [balls, ...others] = rows.map((list) => Int32Array.from(list));
    return {
        count, centre, solid, ballRows: balls, solidRows: others,
        radius: Float32Array.from(arrays.radius),
        turn: quaternions(arrays.rotation, count, dim),
        size: arrays.scale ? Float32Array.from(arrays.scale) : new Float32Array(count).fill(1),
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
            const [w, x, y, z] = rotation.subarray(4 * row, 4 * row + 4);
            turn.set([x, y, z, w], 4 * row);
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
    const quaternion = gather(p.turn, p.ballRows, 4);
    const turn = new Float32Array(p.ballRows.length);
    for (let i = 0; i < turn.length; i++) turn[i] = 2 * Math.atan2(quaternion[4 * i + 2], quaternion[4 * i + 3]);
    return {
        count: p.ballRows.length, turn,
        centre: gather(p.centre, p.ballRows, 3),
        radius: gather(p.radius, p.ballRows, 1),
    };
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
    const box = new Box3();
    const c = new Vector3();
    const r = new Vector3();
    for (let row = 0; row < p.count; row++) {
        c.fromArray(p.centre, 3 * row);
        if (!Number.isFinite(c.x + c.y + c.z)) continue;
        r.setScalar(p.radius[row]);
        box.expandByPoint(c.clone().sub(r));
        box.expandByPoint(c.add(r));
    }
    return box;
}
