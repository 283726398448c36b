// The panel at the side: a list of all that can be drawn, each with a switch and, unfolded, with its
// controls. All of it is bound to settings; the app listens to those.
import { shortNumber } from "../data/fields";
import type { Field } from "../data/run";
import type { NameOf } from "../settings";
import type { Colouring } from "./colouring";
import type { Controls } from "./controls";
import { idOf } from "./controls";
import { line, make } from "./dom";
import type { Exactness } from "./exactness";
import type { Inspector } from "./inspector";
import type { Selection } from "./selection";

const AXES = ["x", "y", "z"];
const percent = (v: number): string => `${Math.round(100 * v)} %`;

export interface PanelParts {
    grains: Colouring;
    forces: Colouring;
    selection: Selection;
    inspector: Inspector;
    exactness: Exactness;
}

export class Panel {
    readonly element: HTMLElement;
    private readonly arrowField: HTMLSelectElement;
    private readonly cutOutput = make("output", { class: "value" });
    private readonly noContacts = make("p", { class: "note", hidden: "" }, "This run does not record contacts.");
    private readonly trailNote = make("p", { class: "note" });
    private readonly pickedSection: HTMLDetailsElement;
    private readonly imagesSection: HTMLElement;

    constructor(dim: 2 | 3, periodic: boolean, private readonly controls: Controls, parts: PanelParts) {
        this.arrowField = controls.menu("arrows.field", []);
        this.pickedSection = controls.section("Picked grain", false, undefined, parts.inspector.element);
        this.imagesSection = line("images", controls.range("images", 0, 2, (n) => (n === 0 ? "none" : `${n} each side`), 1));
        this.imagesSection.hidden = !periodic;
        const selection = controls.section("Selection", false, undefined, parts.selection.element);
        selection.addEventListener("toggle", () => parts.selection.unfolded());
        this.element = make("aside", { class: "panel" },
            this.pickedSection,
            controls.section("Grains", true, "grains.on", parts.grains.element, ...this.grainControls(dim)),
            controls.section("Forces", false, "forces.on", this.noContacts, ...this.forceControls(), parts.forces.element),
            controls.section("Arrows", false, "arrows.on", ...this.arrowControls()),
            controls.section("Trails", false, "trails.on", ...this.trailControls()),
            selection,
            controls.section("Walls", false, "walls.on", line("opacity", controls.range("walls.opacity", 0, 1, percent))),
            ...(periodic ? [controls.section("Periodic cell", false, "cell.on", this.imagesSection)] : []),
            controls.section("Cut", false, "cut.on", ...this.cutControls(dim)),
            controls.section("Look", false, undefined, ...this.lookControls(dim)),
            controls.section("How exact", true, undefined, parts.exactness.element));
        controls.ready = true;
    }

    private grainControls(dim: 2 | 3): HTMLElement[] {
        const { controls } = this;
        return [
            line("opacity", controls.range("grains.opacity", 0.05, 1, percent)),
            line("size", controls.range("grains.size", 0.1, 1, percent)),
            ...(dim === 2 ? [controls.toggle("grains.marks", "marks that turn with disks")] : []),
        ];
    }

    private forceControls(): HTMLElement[] {
        const { controls } = this;
        const grains = [{ value: "auto", label: "make room" }, { value: "fade", label: "fade" }, { value: "shrink", label: "shrink" },
                        { value: "stay", label: "stay as they are" }];
        return [
            line("width", controls.range("forces.width", 0.05, 1.5, percent)),
            line("above", controls.range("forces.least", 0, 5, (v) => (v === 0 ? "all" : `${shortNumber(v, 2)} × mean`), 0.1)),
            line("grains", controls.menu("forces.grains", grains)),
        ];
    }

    private arrowControls(): HTMLElement[] {
        const { controls } = this;
        return [
            line("of", this.arrowField),
            line("length", controls.range("arrows.length", 0.5, 12, (v) => `${shortNumber(v, 2)} ⌀`)),
            line("colour", controls.menu("arrows.colour", [{ value: "plain", label: "plain" }, { value: "field", label: "as the grains" }])),
        ];
    }

    private trailControls(): HTMLElement[] {
        return [line("frames", this.controls.range("trails.frames", 2, 200, (v) => String(v), 1)), this.trailNote];
    }

    private cutControls(dim: 2 | 3): HTMLElement[] {
        const { controls } = this;
        const axes = AXES.slice(0, dim).map((name) => ({ value: name, label: name }));
        return [
            line("normal to", controls.menu("cut.axis", axes)),
            line("at", controls.range("cut.place", 0, 1), this.cutOutput),
            controls.toggle("cut.flip", "keep the other side"),
        ];
    }

    private lookControls(dim: 2 | 3): HTMLElement[] {
        const { controls } = this;
        return [
            ...(dim === 3 ? [controls.toggle("look.shade", "soft shadows in hollows"), controls.toggle("look.outline", "outlines"),
                             controls.toggle("parallel", "parallel projection")] : []),
            controls.toggle("look.axes", "axes"), controls.toggle("look.ruler", "scale bar"),
        ];
    }

    setFields(fields: Field[], dim: 2 | 3): void {
        const vectors = fields.filter((f) => f.width === dim && f.type.startsWith("f") && f.name !== "position");
        this.controls.refill(this.arrowField, "arrows.field", vectors.map((f) => ({ value: f.name, label: f.name })));
    }

    showCut(position: number, unit: string): void {
        this.cutOutput.textContent = `${shortNumber(position)}${unit}`;
    }

    showPicked(on: boolean): void {
        this.pickedSection.open = on;
        this.pickedSection.hidden = !on;
    }

    showTrails(text: string): void {
        this.trailNote.textContent = text;
    }

    setHasContacts(has: boolean): void {
        this.noContacts.hidden = has;
        this.element.querySelector<HTMLInputElement>("#forces-on")!.disabled = !has;
    }

    /** Switch something, as the user would: not if it cannot be had. */
    toggle(name: NameOf<boolean>, on = !this.controls.store.get(name)): void {
        const box = this.element.querySelector<HTMLInputElement>(`#${idOf(name)}`);
        if (!box?.disabled) this.controls.store.set(name, on);
    }
}
