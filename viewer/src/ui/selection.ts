// Which grains are selected: by a condition, by a box on the canvas, or one by one. The others are
// pale or gone. A selection holds grains by their identity, so it stays the same in other frames; one
// by a condition can be made anew in each.
import { parseCondition } from "../data/expression";
import type { Scalar } from "../data/fields";
import { DIMMED, HIDDEN, SHOWN } from "../draw/look";
import type { Controls } from "./controls";
import { button, line, make } from "./dom";
import { Histogram } from "./histogram";

const IN_ADDRESS = 60; // identities that an address holds; larger selections are not kept there

export interface SelectionEvents {
    /** Identities of the grains in this frame. */
    ids(): Promise<ArrayLike<number>>;
    values(scalar: Scalar): Promise<Float32Array>;
    changed(): void;
    /** The next drag on the canvas draws a box. */
    box(): void;
}

export class Selection {
    readonly element: HTMLElement;
    /** Identities; undefined: none is selected, all are shown. */
    chosen: Set<number> | undefined;
    private scalars: Scalar[] = [];
    private colourKey = "";
    private ids: ArrayLike<number> | undefined;
    private readonly input = make("input", { id: "select-where", type: "text", spellcheck: "false",
                                             placeholder: "z > 0.1 and speed < 0.01", "aria-label": "condition" });
    private readonly said = make("p", { class: "note", id: "selected" });
    private readonly wrong = make("p", { class: "note wrong", hidden: "" });
    private readonly fieldMenu: HTMLSelectElement;
    private readonly histogram = new Histogram();

    constructor(private readonly controls: Controls, private readonly events: SelectionEvents) {
        const { store } = controls;
        this.input.addEventListener("change", () => store.set("select.where", this.input.value.trim()));
        this.fieldMenu = controls.menu("select.field", []);
        const others = controls.menu("select.others", [{ value: "dim", label: "pale" }, { value: "hide", label: "hidden" }]);
        this.element = make("div", {}, line("where", this.input), this.wrong,
            make("div", { class: "buttons" },
                button("draw a box", "select the grains in a box on the canvas (b, or Shift and drag)", () => events.box()),
                button("clear", "select none", () => this.clear())),
            this.said,
            line("others", others), controls.toggle("select.live", "anew in every frame"),
            line("histogram", this.fieldMenu), this.histogram.element);
        store.on(["select.where"], () => {
            this.input.value = store.get("select.where");
            void this.evaluate();
        });
        store.on(["select.ids"], () => this.readIds());
        store.on(["select.others", "select.live"], () => events.changed());
        store.on(["select.field"], () => void this.showHistogram());
        this.input.value = store.get("select.where");
        this.readIds();
    }

    setScalars(scalars: Scalar[]): void {
        this.scalars = scalars;
        const options = [{ value: "", label: "the colours' field" }, ...scalars.map((s) => ({ value: s.key, label: s.label }))];
        this.controls.refill(this.fieldMenu, "select.field", options);
    }

    private readIds(): void {
        const words = this.controls.store.get("select.ids").split(",").filter(Boolean).map(Number).filter(Number.isFinite);
        if (words.length > 0) this.chosen = new Set(words);
        this.events.changed();
    }

    clear(): void {
        this.chosen = undefined;
        this.controls.store.set("select.where", "");
        this.controls.store.set("select.ids", "");
        this.wrong.hidden = true;
        this.events.changed();
    }

    /** Exactly these, or these too (one that is selected already no longer). */
    choose(ids: number[], add: boolean): void {
        const chosen = add ? new Set(this.chosen ?? []) : new Set<number>();
        for (const id of ids) {
            if (add && ids.length === 1 && chosen.has(id)) chosen.delete(id);
            else chosen.add(id);
        }
        this.controls.store.set("select.where", "");
        this.chosen = chosen.size > 0 ? chosen : undefined;
        this.controls.store.set("select.ids", chosen.size <= IN_ADDRESS ? [...chosen].join(",") : "");
        this.events.changed();
    }

    /** Whether the condition holds, for each grain of the frame. */
    async evaluate(): Promise<void> {
        const where = this.controls.store.get("select.where");
        this.wrong.hidden = true;
        this.input.classList.remove("wrong");
        if (where === "") return;
        try {
            const condition = parseCondition(where, this.scalars);
            const [ids, ...values] = await Promise.all([this.events.ids(), ...condition.scalars.map((s) => this.events.values(s))]);
            if (where !== this.controls.store.get("select.where")) return;
            const chosen = new Set<number>();
            for (let row = 0; row < ids.length; row++) if (condition.holds(values, row)) chosen.add(ids[row]);
            this.chosen = chosen;
            this.controls.store.set("select.ids", "");
            this.events.changed();
        } catch (error) {
            this.wrong.textContent = (error as Error).message;
            this.wrong.hidden = false;
            this.input.classList.add("wrong");
        }
    }

    /** Whether the condition must be looked at in each frame. */
    get live(): boolean {
        return this.controls.store.get("select.live") && this.controls.store.get("select.where") !== "";
    }

    statesOf(ids: ArrayLike<number> | undefined, count: number): Uint8Array {
        const states = new Uint8Array(count).fill(SHOWN);
        const { chosen } = this;
        if (!chosen || !ids) return states;
        const other = this.controls.store.get("select.others") === "hide" ? HIDDEN : DIMMED;
        for (let row = 0; row < count; row++) if (!chosen.has(ids[row])) states[row] = other;
        return states;
    }

    /** Say what is selected. `key` is the field of the colours. */
    async show(key: string, ids: ArrayLike<number> | undefined): Promise<void> {
        const { chosen } = this;
        const here = chosen && ids ? Array.from(ids).filter((id) => chosen.has(id)).length : 0;
        this.said.textContent = !chosen ? "Nothing is selected." : `${here.toLocaleString("en")} of ${ids?.length.toLocaleString("en") ?? 0} grains`;
        this.colourKey = key;
        this.ids = ids;
        await this.showHistogram();
    }

    private async showHistogram(): Promise<void> {
        const key = this.controls.store.get("select.field") || this.colourKey;
        const scalar = this.scalars.find((s) => s.key === key);
        if (!scalar || !this.element.closest("details")?.open) return;
        const { chosen, ids } = this;
        const values = await this.events.values(scalar).catch(() => new Float32Array(0));
        this.histogram.show(values, chosen && ids ? values.filter((_, row) => chosen.has(ids[row])) : undefined, scalar.unit);
    }

    /** The part of the panel was unfolded. */
    unfolded(): void {
        void this.showHistogram();
    }
}
