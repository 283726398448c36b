// Scalars to colour by: every recorded field of a table, vectors as their components and their
// magnitude. A scalar has a key ("velocity", "velocity.x", "velocity.|.|") by which menus know it.
import type { Field } from "./run";
import type { Numbers } from "./source";

export interface Scalar {
    key: string;
    label: string;
    unit: string;
    description: string;
    field: string;
    width: number;
    /** Component, or -1 for the magnitude. */
    component: number;
    /** Numbers that name something (a material, a tag): a colour for each. */
    whole: boolean;
    /** Numbers over several decades: a logarithmic scale tells more. */
    wide?: boolean;
}

const MAGNITUDE = -1;
const AXES = ["x", "y", "z"];
const QUATERNION = ["w", "x", "y", "z"];

/** Scalars of all fields in `fields`; `hidden` names those that nobody wants as a colour. */
export function scalarsOf(fields: Field[], hidden: string[] = []): Scalar[] {
    return fields.filter((f) => !hidden.includes(f.name)).flatMap(scalarsOfField);
}

function scalarsOfField(f: Field): Scalar[] {
    const scalar = (key: string, label: string, component: number): Scalar => ({
        key, label, component, field: f.name, width: f.width, unit: shownUnit(f.unit),
        description: f.description, whole: f.width === 1 && (f.type === "i32" || f.type === "u8"),
    });
    if (f.width === 1) return [scalar(f.name, plain(f.name), 0)];
    const names = f.width === 4 ? QUATERNION : AXES;
    const parts = Array.from({ length: f.width }, (_, i) =>
        scalar(`${f.name}.${names[i] ?? i}`, `${plain(f.name)} ${names[i] ?? i}`, i));
    if (f.width > 3) return parts;
    return [scalar(`${f.name}.|.|`, `|${plain(f.name)}|`, MAGNITUDE), ...parts];
}

export function plain(name: string): string {
    return name.replaceAll("_", " ");
}

export function shownUnit(unit: string): string {
    return unit === "-" || unit === "–" || unit === "1" || unit === "none" ? "" : unit;
}

/** The scalar of each row. */
export function evaluate(scalar: Scalar, data: Numbers): Float32Array {
    const { width, component } = scalar;
    const rows = data.length / width;
    const out = new Float32Array(rows);
    for (let row = 0; row < rows; row++) {
        if (component !== MAGNITUDE) {
            out[row] = data[row * width + component];
            continue;
        }
        let sum = 0;
        for (let i = row * width; i < (row + 1) * width; i++) sum += data[i] * data[i];
        out[row] = Math.sqrt(sum);
    }
    return out;
}

export type Range = [number, number];

/** Smallest and largest finite number, undefined if there is none. */
export function rangeOf(values: ArrayLike<number>): Range | undefined {
    let low = Infinity;
    let high = -Infinity;
    for (let i = 0; i < values.length; i++) {
        const v = values[i];
        if (!Number.isFinite(v)) continue;
        if (v < low) low = v;
        if (v > high) high = v;
    }
    return low <= high ? [low, high] : undefined;
}

/** A number as short as it may be with `digits` significant ones. */
export function shortNumber(value: number, digits = 4): string {
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "none" : String(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e5)) {
        return value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
    }
    const text = value.toPrecision(digits);
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
