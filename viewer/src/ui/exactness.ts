// How exact the step of the frame was, from its row of series.csv: what is certified, what is only
// estimated, and the grains that are worst; a click on one picks it.
import { shortNumber } from "../data/fields";
import type { FrameInfo } from "../data/run";
import { nearest, type Series } from "../data/series";
import { button, make } from "./dom";

export class Exactness {
    readonly element = make("div", { id: "exactness" });

    constructor(private readonly onPick: (id: number) => void) {}

    /** The row of the frame's step, or the nearest one if that step has none. */
    show(series: Series, frame: FrameInfo | undefined, timeUnit: string): void {
        const row = frame && frame.step > 0 ? nearest(series.time, frame.time) : -1;
        const value = (name: string): number => series.columns[series.names.indexOf(name)]?.[row] ?? NaN;
        if (row < 0 || !series.names.includes("certified")) {
            this.say(row < 0 ? "No step has been done yet." : "Only known of contacts that are solved (method contact).");
            return;
        }
        const when = value("step") === frame!.step ? "" : `, at t = ${shortNumber(series.time[row], 5)}${timeUnit}`;
        const met = value("converged") === 1 ? "" : ", not converged";
        if (value("cluster_grains") === 0) {
            this.say(`Nothing touches${met}${when}.`);
            return;
        }
        this.say(`${certificate(value("certified"))}, ${estimate(value("velocity_error"))}${met}${when}.`,
            this.grainLine(`worst cluster: ${shortNumber(value("cluster_grains"))} grains about`, value("cluster_grain")),
            this.grainLine("largest share in the error:", value("worst_grain"), `, ${atMostAll(value("worst_grain_error"))} (estimate)`));
    }

    private say(text: string, ...lines: Node[]): void {
        this.element.replaceChildren(make("p", { class: "note" }, text), ...lines);
    }

    private grainLine(text: string, id: number, after = ""): HTMLElement {
        if (!(id >= 0)) return make("p", { class: "note" }, `${text} a wall${after}`);
        return make("p", { class: "note" }, `${text} `, button(`grain ${id}`, `pick grain ${id}`, () => this.onPick(id)), after);
    }
}

/** "certified within 3.1 %", rounded up so that it holds. */
export function certificate(bound: number): string {
    return bound <= 1 ? `certified within ${percent(bound, Math.ceil)}` : "not certified";
}

function estimate(error: number): string {
    return `estimated ${atMostAll(error)}`;
}

/** An error relative to what contacts do: more than all of that says no more than all. */
function atMostAll(error: number): string {
    return error < 0.995 ? percent(error, Math.round) : "100 % or more";
}

/** Two digits. Numbers that are round but for rounding stay as they are. */
function percent(part: number, round: (x: number) => number): string {
    const value = 100 * part;
    if (!(value > 0) || !Number.isFinite(value)) return value === 0 ? "0 %" : "no number";
    const unit = 10 ** (Math.floor(Math.log10(value * (1 + 1e-9))) - 1);
    return `${shortNumber(Number((round((value / unit) * (1 - 1e-9)) * unit).toPrecision(6)))} %`;
}
