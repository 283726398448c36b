// Colour by a field: which field, which map, which scale. The scale follows the frame, widens over
// the frames seen so far, or is fixed by the user. Keeps the shaders' uniforms and the legend true.
import { rangeOf, shortNumber, type Range, type Scalar } from "../data/fields";
import type { Colours } from "../draw/look";
import { COLOUR_MAPS, type ColourMap } from "../draw/palette";
import { line, make, select, setOptions } from "./dom";
import { Legend } from "./legend";

export type ScaleMode = "frame" | "seen" | "fixed";
const MODES = [
    { value: "frame", label: "auto: this frame" },
    { value: "seen", label: "auto: frames seen" },
    { value: "fixed", label: "fixed" },
];
const PLAIN = "";

export class Colouring {
    readonly element: HTMLElement;
    readonly legend = new Legend();
    map: ColourMap = COLOUR_MAPS[0];
    range: Range = [0, 1];
    private mode: ScaleMode = "frame";
    private seen: Range | undefined;
    private current: Range | undefined;
    private scalars: Scalar[] = [];
    private key = PLAIN;
    private readonly fieldMenu: HTMLSelectElement;
    private readonly mapMenu: HTMLSelectElement;
    private readonly modeMenu: HTMLSelectElement;
    private readonly low: HTMLInputElement;
    private readonly high: HTMLInputElement;

    /** `plain` is the label of the choice without a field, if there is one. */
    constructor(id: string, private readonly colours: Colours, private readonly plain: string | undefined,
                private readonly onField: () => void, private readonly onScale: () => void) {
        this.fieldMenu = select(`${id}-field`, [], PLAIN, (key) => this.setField(key));
        this.mapMenu = select(`${id}-map`, COLOUR_MAPS.map((m) => ({ value: m.name, label: m.name })), this.map.name,
                              (name) => this.setMap(name));
        this.modeMenu = select(`${id}-mode`, MODES, this.mode, (mode) => this.setMode(mode as ScaleMode));
        this.low = this.numberInput(`${id}-low`, "least number of the scale");
        this.high = this.numberInput(`${id}-high`, "largest number of the scale");
        this.element = make("div", {}, line("field", this.fieldMenu), line("map", this.mapMenu),
                            line("scale", this.modeMenu), line("from, to", this.low, this.high));
        colours.setMap(this.map);
        this.update();
    }

    private numberInput(id: string, title: string): HTMLInputElement {
        const input = make("input", { id, type: "text", inputmode: "decimal", title, "aria-label": title });
        input.addEventListener("change", () => {
            const [low, high] = [Number(this.low.value), Number(this.high.value)];
            const good = Number.isFinite(low) && Number.isFinite(high) && low < high;
            for (const i of [this.low, this.high]) i.classList.toggle("wrong", !good);
            if (good) this.fix([low, high]);
        });
        return input;
    }

    get scalar(): Scalar | undefined {
        return this.scalars.find((s) => s.key === this.key);
    }

    /** Offer these fields. The choice stays if it is still among them, else it is `preferred`. */
    setScalars(scalars: Scalar[], preferred: string): void {
        this.scalars = scalars;
        if (!this.scalar) {
            this.key = scalars.some((s) => s.key === preferred) || this.plain !== undefined ? preferred : scalars[0]?.key ?? PLAIN;
        }
        const first = this.plain === undefined ? [] : [{ value: PLAIN, label: this.plain }];
        setOptions(this.fieldMenu, [...first, ...scalars.map((s) => ({
            value: s.key, label: s.unit ? `${s.label} (${s.unit})` : s.label, title: s.description }))], this.key);
        this.update();
    }

    setField(key: string): void {
        if (key !== PLAIN && !this.scalars.some((s) => s.key === key)) throw new Error(`no field '${key}'`);
        this.key = key;
        this.fieldMenu.value = key;
        this.seen = undefined;
        this.current = undefined;
        if (this.mode === "fixed") this.setMode("frame");
        this.onField();
    }

    setMap(name: string): void {
        const map = COLOUR_MAPS.find((m) => m.name === name);
        if (!map) throw new Error(`no colour map '${name}'`);
        this.map = map;
        this.mapMenu.value = name;
        this.colours.setMap(map);
        this.update();
    }

    setMode(mode: ScaleMode): void {
        this.mode = mode;
        this.modeMenu.value = mode;
        if (mode !== "fixed") this.seen = this.current;
        this.update();
    }

    /** Fix the scale. */
    fix(range: Range): void {
        this.mode = "fixed";
        this.modeMenu.value = "fixed";
        this.range = range;
        this.update();
    }

    /** The numbers that are shown now; automatic scales follow them. */
    setValues(values: Float32Array): void {
        this.current = rangeOf(values);
        const c = this.current;
        if (c) this.seen = this.seen ? [Math.min(this.seen[0], c[0]), Math.max(this.seen[1], c[1])] : c;
        this.update();
    }

    private update(): void {
        if (this.mode !== "fixed") this.range = this.symmetric((this.mode === "seen" ? this.seen : this.current) ?? [0, 1]);
        this.colours.setRange(this.range);
        const { scalar } = this;
        if (document.activeElement !== this.low) this.low.value = shortNumber(this.range[0], 6);
        if (document.activeElement !== this.high) this.high.value = shortNumber(this.range[1], 6);
        for (const control of [this.mapMenu, this.modeMenu, this.low, this.high]) control.disabled = !scalar;
        this.legend.show(scalar ? { scalar, map: this.map, range: this.range, fixed: this.mode === "fixed" } : undefined);
        this.onScale();
    }

    private symmetric([low, high]: Range): Range {
        if (!this.map.diverging || low >= 0 || high <= 0) return [low, high];
        const most = Math.max(-low, high);
        return [-most, most];
    }

    get state(): { key: string; map: string; mode: ScaleMode; range: Range } {
        return { key: this.key, map: this.map.name, mode: this.mode, range: this.range };
    }
}
