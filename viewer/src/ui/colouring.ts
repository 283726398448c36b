// Colour by a field: which field, which map, which scale. The scale spans the numbers of this frame
// or of all frames, all of them or the middle part (so that one fast grain does not spoil it), or is
// fixed by the user. Keeps the shaders' uniforms and the legend true.
import { shortNumber, type Range, type Scalar } from "../data/fields";
import { Spread } from "../data/scale";
import type { Colours } from "../draw/look";
import { COLOUR_MAPS, type ColourMap } from "../draw/palette";
import type { Settings, Store } from "../settings";
import type { Controls } from "./controls";
import { line, make } from "./dom";
import type { LegendContent } from "./legend";

type Part = "field" | "map" | "over" | "part" | "log" | "symmetric" | "low" | "high";
const OVER = [
    { value: "frame", label: "this frame" },
    { value: "all", label: "all frames" },
    { value: "fixed", label: "fixed numbers" },
];
const PARTS = [
    { value: "100", label: "all values" },
    { value: "98", label: "middle 98 %" },
    { value: "90", label: "middle 90 %" },
];
const AUTO = "auto";

export interface ColouringEvents {
    /** Another field is chosen: fetch its numbers. */
    field(): void;
    /** Colours have changed: draw anew. */
    scale(): void;
    /** The spread of a field over all frames. */
    spread(scalar: Scalar): Promise<Spread>;
}

export class Colouring {
    readonly element: HTMLElement;
    map: ColourMap = COLOUR_MAPS[0];
    range: Range = [0, 1];
    log = false;
    private current = new Spread();
    private all: { key: string; spread: Spread } | undefined;
    private asked = "";
    private signed = false;
    private scalars: Scalar[] = [];
    private readonly store: Store;
    private readonly fieldMenu: HTMLSelectElement;
    private readonly low: HTMLInputElement;
    private readonly high: HTMLInputElement;
    private readonly symmetricBox: HTMLElement;

    /** `plain` is the label of the choice without a field, if there is one. */
    constructor(private readonly prefix: "colour" | "forces", private readonly controls: Controls, private readonly colours: Colours,
                private readonly plain: string | undefined, private readonly events: ColouringEvents) {
        this.store = controls.store;
        this.fieldMenu = controls.menu(this.name("field"), []);
        const maps = [{ value: AUTO, label: "as the field wants" }, ...COLOUR_MAPS.map((m) => ({ value: m.name, label: m.name }))];
        this.low = this.numberInput("low", "least number of the scale");
        this.high = this.numberInput("high", "largest number of the scale");
        this.symmetricBox = controls.toggle(this.name("symmetric"), "symmetric about 0");
        const part = make("select", { id: `${prefix}-part` }, ...PARTS.map((o) => make("option", { value: o.value }, o.label)));
        const showPart = (): void => { part.value = String(this.get("part")); };
        part.addEventListener("change", () => this.store.set(this.name("part"), Number(part.value)));
        this.store.on([this.name("part")], showPart);
        showPart();
        this.element = make("div", {}, line("field", this.fieldMenu), line("map", controls.menu(this.name("map"), maps)),
            line("scale", controls.menu(this.name("over"), OVER), part), line("from, to", this.low, this.high),
            make("div", { class: "checks" }, controls.toggle(this.name("log"), "logarithmic"), this.symmetricBox));
        this.store.on([prefix], (name) => {
            if (name === this.name("field")) this.changeField();
            else if (name.startsWith(prefix)) this.update();
        });
        this.update();
    }

    private name<P extends Part>(part: P): `${"colour" | "forces"}.${P}` {
        return `${this.prefix}.${part}`;
    }

    private get<P extends Part>(part: P): Settings[`colour.${P}`] {
        return this.store.get(this.name(part) as `colour.${P}`);
    }

    private numberInput(part: "low" | "high", title: string): HTMLInputElement {
        const input = make("input", { id: `${this.prefix}-${part}`, type: "text", inputmode: "decimal", title, "aria-label": title });
        input.addEventListener("change", () => {
            const [low, high] = [Number(this.low.value), Number(this.high.value)];
            const good = Number.isFinite(low) && Number.isFinite(high) && low < high;
            for (const i of [this.low, this.high]) i.classList.toggle("wrong", !good);
            if (good) this.fix([low, high]);
        });
        return input;
    }

    get scalar(): Scalar | undefined {
        return this.scalars.find((s) => s.key === this.get("field"));
    }

    /** Offer these fields. The choice stays if it is still among them, else it is `preferred`. */
    setScalars(scalars: Scalar[], preferred: string): void {
        this.scalars = scalars;
        const first = this.plain === undefined ? [] : [{ value: "", label: this.plain }];
        const options = scalars.map((s) => ({ value: s.key, label: s.unit ? `${s.label} (${s.unit})` : s.label, title: s.description }));
        this.controls.refill(this.fieldMenu, this.name("field"), [...first, ...options]);
        if (!this.scalar && this.get("field") !== preferred) this.store.set(this.name("field"), preferred);
        this.update();
    }

    setField(key: string): void {
        if (key !== "" && !this.scalars.some((s) => s.key === key)) throw new Error(`no field '${key}'`);
        this.store.set(this.name("field"), key);
    }

    private changeField(): void {
        this.current = new Spread();
        this.signed = false;
        this.store.set(this.name("log"), this.scalar?.wide ?? false);
        if (this.get("over") === "fixed" && this.fieldMenu === document.activeElement) this.store.set(this.name("over"), "frame");
        this.events.field();
    }

    /** Fix the scale. */
    fix([low, high]: Range): void {
        this.store.set(this.name("low"), low);
        this.store.set(this.name("high"), high);
        this.store.set(this.name("over"), "fixed");
    }

    /** The numbers that are shown now; automatic scales follow them. */
    setValues(values: Float32Array): void {
        this.current = new Spread();
        this.current.add(values);
        this.signed ||= this.current.signed && this.scalar?.field !== "position";
        this.update();
    }

    private spread(): Spread {
        const { scalar } = this;
        if (this.get("over") !== "all" || !scalar) return this.current;
        if (this.all?.key === scalar.key) return this.all.spread;
        if (this.asked !== scalar.key) {
            this.asked = scalar.key;
            this.events.spread(scalar).then((spread) => {
                if (this.asked !== scalar.key) return;
                this.all = { key: scalar.key, spread };
                this.signed ||= spread.signed && scalar.field !== "position";
                this.asked = "";
                this.update();
            }, () => { this.asked = ""; });
        }
        return this.current;
    }

    /** More frames have come: the spread over all of them is to be found anew. */
    forgetAll(): void {
        this.all = undefined;
    }

    private chooseMap(): ColourMap {
        const chosen = COLOUR_MAPS.find((m) => m.name === this.get("map"));
        if (chosen) return chosen;
        if (this.scalar?.whole) return COLOUR_MAPS.find((m) => m.categories)!;
        return this.signed ? COLOUR_MAPS.find((m) => m.diverging)! : COLOUR_MAPS[0];
    }

    private chooseRange(): Range {
        const spread = this.spread();
        if (this.get("over") === "fixed") return [this.get("low"), this.get("high")];
        if (this.map.categories) return spread.empty ? [0, 0] : [spread.low, spread.high];
        const [low, high] = spread.middle(this.get("part"), this.log) ?? (this.log ? [1, 10] : [0, 1]);
        if (!this.map.diverging || !this.signed || this.log || !this.get("symmetric")) return [low, high];
        const most = Math.max(-low, high);
        return [-most, most];
    }

    private update(): void {
        const { scalar } = this;
        const before = this.map;
        this.map = this.chooseMap();
        const fixed = this.get("over") === "fixed";
        this.log = this.get("log") && !this.map.categories && !(fixed && this.get("low") <= 0);
        this.range = this.chooseRange();
        if (before !== this.map || !this.colours.uniforms.uMap.value) this.colours.setMap(this.map);
        this.colours.setRange(this.range, this.log);
        if (document.activeElement !== this.low) this.low.value = shortNumber(this.range[0], 5);
        if (document.activeElement !== this.high) this.high.value = shortNumber(this.range[1], 5);
        this.element.classList.toggle("plain", !scalar);
        this.symmetricBox.hidden = !(this.map.diverging && this.signed);
        this.events.scale();
    }

    /** undefined where there is nothing to explain. */
    get legend(): LegendContent | undefined {
        const { scalar, map, range, log } = this;
        if (!scalar) return undefined;
        const over = this.get("over");
        const spread = this.spread();
        const part = over === "fixed" || map.categories || this.get("part") >= 100 ? "" : `, middle ${this.get("part")} %`;
        const where = over === "fixed" ? "fixed scale" : over === "all" ? (this.asked ? "looking at all frames …" : "all frames") : "this frame";
        const beyond = !spread.empty && !map.categories;
        return { title: scalar.label, unit: scalar.unit, map, range, log, note: where + part,
                 below: beyond && spread.low < range[0], above: beyond && spread.high > range[1] };
    }

    get state(): { key: string; map: string; mode: string; range: Range; log: boolean } {
        return { key: this.get("field"), map: this.map.name, mode: this.get("over"), range: this.range, log: this.log };
    }
}

