// Which grain does a ray meet first? Balls by their formula, solids by cutting the ray at the planes
// of the faces of each convex part. All grains are tried: 1e5 of them take about a millisecond.
import { Quaternion, Vector3, type Ray } from "three";
import type { Solid } from "../data/run";
import type { Packing } from "./packing";
import { normalOf } from "./solids";

interface Halfspaces {
    normal: number[][];
    offset: number[];
}

export class Picker {
    private readonly solids: Halfspaces[][];

    constructor(solids: Solid[], private readonly dim: 2 | 3) {
        this.solids = solids.map((solid) => solid.parts.map((part) => halfspaces(part, dim)));
    }

    /** Row of the first grain that is shown and met, -1 if there is none. */
    pick(ray: Ray, packing: Packing, size: number, hidden: (row: number) => boolean): number {
        let best = Infinity;
        let found = -1;
        const c = new Vector3();
        for (let row = 0; row < packing.count; row++) {
            c.fromArray(packing.centre, 3 * row).sub(ray.origin);
            const along = c.dot(ray.direction);
            const aside2 = c.lengthSq() - along * along;
            const radius = packing.radius[row] * size;
            if (aside2 > radius * radius || hidden(row)) continue;
            const entry = packing.solid[row] < 0
                ? along - Math.sqrt(radius * radius - aside2)
                : this.enter(ray, packing, row, size);
            if (entry < best) {
                best = entry;
                found = row;
            }
        }
        return found;
    }

    private enter(ray: Ray, packing: Packing, row: number, size: number): number {
        const back = new Quaternion().fromArray(packing.turn, 4 * row).invert();
        const scale = packing.size[row] * size;
        const from = new Vector3().fromArray(packing.centre, 3 * row).sub(ray.origin).negate()
            .applyQuaternion(back).divideScalar(scale);
        const along = ray.direction.clone().applyQuaternion(back);
        const entries = this.solids[packing.solid[row]].map((part) =>
            this.dim === 2 ? inside(part, from) : enterPart(part, from, along));
        return Math.min(...entries) * scale;
    }
}

function halfspaces(part: Solid["parts"][number], dim: 2 | 3): Halfspaces {
    const loops = part.faces.map((face) => face.map((i) => part.vertex[i]));
    const planes = dim === 3
        ? loops.map((at) => ({ n: normalOf(at), p: at[0] }))
        : loops.flatMap((at) => at.map((p, i) => {
            const q = at[(i + 1) % at.length];
            return { n: [q[1] - p[1], p[0] - q[0], 0], p };
        }));
    return {
        normal: planes.map((f) => f.n),
        offset: planes.map((f) => f.n[0] * f.p[0] + f.n[1] * f.p[1] + f.n[2] * (f.p[2] ?? 0)),
    };
}

/** Distance along the ray to a convex part, Infinity if it passes by. */
function enterPart(part: Halfspaces, from: Vector3, along: Vector3): number {
    let enter = -Infinity;
    let leave = Infinity;
    for (let i = 0; i < part.offset.length; i++) {
        const n = part.normal[i];
        const rate = n[0] * along.x + n[1] * along.y + n[2] * along.z;
        const room = part.offset[i] - (n[0] * from.x + n[1] * from.y + n[2] * from.z);
        if (rate < 0) enter = Math.max(enter, room / rate);
        else if (rate > 0) leave = Math.min(leave, room / rate);
        else if (room < 0) return Infinity;
    }
    return enter <= leave ? enter : Infinity;
}

function inside(part: Halfspaces, at: Vector3): number {
    const within = part.offset.every((o, i) => part.normal[i][0] * at.x + part.normal[i][1] * at.y <= o);
    return within ? 0 : Infinity;
}
