// Forces of the contacts, split along their normals, and what they add up to on a grain.
import type { Numbers } from "./source";

/** Normal force (positive: apart) and size of the tangential one in a row of the contacts. */
export function splitForce(force: Numbers, normal: Numbers, row: number, dim: number): [number, number] {
    let fn = 0;
    for (let k = dim * row; k < dim * (row + 1); k++) fn += force[k] * normal[k];
    let square = 0;
    for (let k = dim * row; k < dim * (row + 1); k++) square += (force[k] - fn * normal[k]) ** 2;
    return [fn, Math.sqrt(square)];
}

/** Sum of the normal forces on each grain, whichever way they act. */
export function loadsOf(id: Numbers, a: Numbers, b: Numbers, force: Numbers, normal: Numbers, dim: number): Float32Array {
    const rowOf = new Map<number, number>();
    for (let row = 0; row < id.length; row++) rowOf.set(id[row], row);
    const load = new Float32Array(id.length);
    for (let i = 0; i < a.length; i++) {
        const [fn] = splitForce(force, normal, i, dim);
        if (fn === 0) continue;
        for (const end of [a[i], b[i]]) {
            const row = rowOf.get(end); // walls have none
            if (row !== undefined) load[row] += Math.abs(fn);
        }
    }
    return load;
}
