// A histogram of a field: all grains in grey, the selected ones before them, and what they are in
// numbers.
import { rangeOf, shortNumber } from "../data/fields";
import { ticksOf } from "../data/scale";
import { cssColour, make } from "./dom";

const SIZE = { width: 280, height: 96, foot: 16 };
const BINS = 40;

export interface Statistics { count: number; mean: number; deviation: number; low: number; high: number }

export function statisticsOf(values: Float32Array): Statistics {
    let [count, mean, square] = [0, 0, 0];
    for (const v of values) {
        if (!Number.isFinite(v)) continue;
        count++;
        const step = v - mean;
        mean += step / count;
        square += step * (v - mean);
    }
    const [low, high] = rangeOf(values) ?? [NaN, NaN];
    return { count, mean: count ? mean : NaN, deviation: count > 1 ? Math.sqrt(square / (count - 1)) : NaN, low, high };
}

export class Histogram {
    readonly element: HTMLElement;
    private readonly canvas = make("canvas", { class: "histogram", "aria-label": "histogram" });
    private readonly text = make("p", { class: "note", id: "statistics" });

    constructor() {
        this.element = make("div", {}, this.canvas, this.text);
    }

    /** `chosen` is undefined where nothing is selected. */
    show(all: Float32Array, chosen: Float32Array | undefined, unit: string): void {
        const scale = window.devicePixelRatio;
        this.canvas.width = SIZE.width * scale;
        this.canvas.height = SIZE.height * scale;
        const pen = this.canvas.getContext("2d")!;
        pen.scale(scale, scale);
        const range = rangeOf(all);
        if (range) {
            const [low, high] = range[0] < range[1] ? range : [range[0] - 0.5, range[1] + 0.5];
            const counts = count(all, low, high);
            const most = Math.max(...counts);
            this.bars(pen, counts, most, chosen ? cssColour("--edge") : cssColour("--accent"));
            if (chosen) {
                const some = count(chosen, low, high);
                this.bars(pen, some, Math.max(...some, 1), cssColour("--accent"));
            }
            pen.fillStyle = cssColour("--soft");
            pen.font = "10.5px system-ui, sans-serif";
            for (const tick of ticksOf([low, high], false, 6)) {
                const x = ((tick - low) / (high - low)) * SIZE.width;
                pen.textAlign = x < 20 ? "left" : x > SIZE.width - 20 ? "right" : "center";
                pen.fillText(shortNumber(tick), x, SIZE.height - 3);
            }
        }
        const s = statisticsOf(chosen ?? all);
        const number = (v: number): string => shortNumber(v) + (unit ? ` ${unit}` : "");
        this.text.textContent = s.count === 0 ? "no numbers"
            : `${s.count.toLocaleString("en")} grains: mean ${number(s.mean)} ± ${number(s.deviation)}, from ${number(s.low)} to ${number(s.high)}`;
    }

    private bars(pen: CanvasRenderingContext2D, counts: number[], most: number, colour: string): void {
        const room = SIZE.height - SIZE.foot;
        pen.fillStyle = colour;
        counts.forEach((n, i) => {
            const tall = n === 0 ? 0 : Math.max((n / most) * (room - 2), 1);
            pen.fillRect((i * SIZE.width) / BINS, room - tall, SIZE.width / BINS - 1, tall);
        });
    }
}

function count(values: Float32Array, low: number, high: number): number[] {
    const counts = new Array<number>(BINS).fill(0);
    for (const v of values) {
        if (Number.isFinite(v)) counts[Math.min(Math.floor(((v - low) / (high - low)) * BINS), BINS - 1)]++;
    }
    return counts;
}
