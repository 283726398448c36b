// Scales: which numbers a colour map spans, and round numbers to write beside it.
import { rangeOf, type Range } from "./fields";

const SAMPLE = 20000; // numbers of a frame that are sorted; percentiles need no more

/** How the numbers of one or several frames are spread. */
export class Spread {
    low = Infinity;
    high = -Infinity;
    private samples: Float32Array[] = [];
    private sorted: Float32Array | undefined;

    add(values: Float32Array, share = SAMPLE): void {
        const range = rangeOf(values);
        if (!range) return;
        this.low = Math.min(this.low, range[0]);
        this.high = Math.max(this.high, range[1]);
        const stride = Math.max(1, Math.ceil(values.length / share));
        this.samples.push(values.filter((v, i) => i % stride === 0 && Number.isFinite(v)));
        this.sorted = undefined;
    }

    get empty(): boolean {
        return this.low > this.high;
    }

    /** Whether a good part of the numbers lies on either side of zero. */
    get signed(): boolean {
        return !this.empty && this.quantile(0.1) < 0 && this.quantile(0.9) > 0;
    }

    private get order(): Float32Array {
        if (!this.sorted) {
            const all = new Float32Array(this.samples.reduce((sum, s) => sum + s.length, 0));
            let at = 0;
            for (const sample of this.samples) {
                all.set(sample, at);
                at += sample.length;
            }
            this.sorted = all.sort();
        }
        return this.sorted;
    }

    private quantile(part: number, from = 0): number {
        const { order } = this;
        return order[from + Math.round(part * (order.length - 1 - from))];
    }

    /** The middle `part` percent of the numbers; of the positive ones if only these count. */
    middle(part: number, positive: boolean): Range | undefined {
        if (this.empty) return undefined;
        const { order } = this;
        const from = positive ? order.findIndex((v) => v > 0) : 0;
        if (from < 0) return undefined;
        if (part >= 100) return [positive ? order[from] : this.low, this.high];
        const tail = (1 - part / 100) / 2;
        return [this.quantile(tail, from), this.quantile(1 - tail, from)];
    }
}

/** Round numbers within a range, about `count` of them. */
export function ticksOf([low, high]: Range, log: boolean, count = 5): number[] {
    if (!(high > low)) return [low];
    if (log && low > 0) {
        const decades = logTicks(low, high, count);
        if (decades.length > 1) return decades;
    }
    const rough = (high - low) / count;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * unit).find((s) => s >= rough * 0.999)!;
    const ticks: number[] = [];
    for (let i = Math.ceil(low / step - 1e-6); i * step <= high + 1e-6 * step; i++) {
        ticks.push(Number((i * step).toPrecision(12)));
    }
    return ticks;
}

function logTicks(low: number, high: number, count: number): number[] {
    const decades = Math.log10(high / low);
    const factors = decades > count ? [1] : decades > 2 ? [1, 3] : [1, 2, 5];
    const stride = Math.max(1, Math.round(decades / count));
    const ticks: number[] = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
        if (e % stride !== 0) continue;
        for (const f of factors) {
            const t = Number(`${f}e${e}`);
            if (t >= low * 0.999 && t <= high * 1.001) ticks.push(t);
        }
    }
    return ticks;
}

/** Where a number is between the ends of a scale, 0 to 1. */
export function placeOn([low, high]: Range, log: boolean, value: number): number {
    if (!(high > low)) return 0.5;
    const part = log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
    return Math.min(Math.max(part, 0), 1);
}

const PREFIXES: [number, string][] = [[1e3, "k"], [1, ""], [1e-2, "c"], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

/** A length with a prefix to its unit: 0.002 m is 2 mm. */
export function lengthText(length: number, unit: string): string {
    if (unit !== "m") return `${Number(length.toPrecision(3))}${unit ? ` ${unit}` : ""}`;
    const [size, prefix] = PREFIXES.find(([s]) => length >= s * 0.999) ?? PREFIXES[PREFIXES.length - 1];
    return `${Number((length / size).toPrecision(3))} ${prefix}m`;
}
