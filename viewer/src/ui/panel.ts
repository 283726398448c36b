// The panel at the side: what is drawn and how. It holds the choices and tells the app about changes.
import type { CutChoice } from "../draw/theatre";
import { shortNumber } from "../data/fields";
import type { Colouring } from "./colouring";
import { checkbox, line, make, section, select, slider } from "./dom";
import type { Exactness } from "./exactness";
import type { Inspector } from "./inspector";

export interface Choices {
    grains: { visible: boolean; size: number; opacity: number; marks: boolean };
    contacts: { visible: boolean; width: number };
    walls: boolean;
    cell: boolean;
    cut: CutChoice;
}

export interface PanelEvents {
    grains(): void;
    contacts(): void;
    walls(): void;
    cut(): void;
}

const FADED = 0.35; // opacity of grains when contacts are shown
const AXES = ["x", "y", "z"];

export class Panel {
    readonly element: HTMLElement;
    readonly choices: Choices;
    private readonly opacity = slider("grain-opacity", 0.05, 1, 1, (v) => {
        this.choices.grains.opacity = v;
        this.events.grains();
    });
    private readonly cutOutput = make("output", { class: "value" });
    private readonly noContacts = make("p", { class: "note" }, "This run does not record contacts.");

    constructor(dim: 2 | 3, grains: Colouring, contacts: Colouring, inspector: Inspector, exactness: Exactness,
                private readonly events: PanelEvents) {
        this.choices = {
            grains: { visible: true, size: 1, opacity: 1, marks: false },
            contacts: { visible: false, width: 0.5 },
            walls: true,
            cell: true,
            cut: { on: false, axis: dim === 2 ? 0 : 1, place: 0.5, flip: false },
        };
        this.noContacts.hidden = true;
        this.element = make("aside", { class: "panel" },
            section("Picked grain", true, inspector.element),
            section("Grains", true, grains.element, ...this.grainControls(dim)),
            section("Contacts", true, this.noContacts, ...this.contactControls(), contacts.element),
            section("Walls and cell", false, ...this.wallControls()),
            section("Cut", false, ...this.cutControls(dim)),
            section("How exact", true, exactness.element));
    }

    private grainControls(dim: 2 | 3): HTMLElement[] {
        const { grains } = this.choices;
        const changed = this.events.grains;
        const controls = [
            line("opacity", this.opacity),
            line("size", slider("grain-size", 0.1, 1, 1, (v) => { grains.size = v; changed(); })),
            checkbox("grains-visible", "show grains", true, (on) => { grains.visible = on; changed(); }),
        ];
        if (dim === 2) {
            controls.push(checkbox("marks", "marks that turn with disks", false, (on) => { grains.marks = on; changed(); }));
        }
        return controls;
    }

    private contactControls(): HTMLElement[] {
        const { contacts } = this.choices;
        const changed = this.events.contacts;
        return [
            checkbox("contacts-visible", "show as bars, width by normal force", false, (on) => {
                contacts.visible = on;
                this.fade(on);
                changed();
            }),
            line("width", slider("contact-width", 0.05, 2, contacts.width, (v) => { contacts.width = v; changed(); })),
        ];
    }

    /** Behind opaque grains no contacts are seen: grains that are opaque fade, and come back. */
    private fade(on: boolean): void {
        const { grains } = this.choices;
        if (grains.opacity !== (on ? 1 : FADED)) return;
        grains.opacity = on ? FADED : 1;
        this.opacity.value = String(grains.opacity);
        this.events.grains();
    }

    private wallControls(): HTMLElement[] {
        const changed = this.events.walls;
        return [
            checkbox("walls-visible", "show walls", true, (on) => { this.choices.walls = on; changed(); }),
            checkbox("cell-visible", "show the periodic cell", true, (on) => { this.choices.cell = on; changed(); }),
        ];
    }

    private cutControls(dim: 2 | 3): HTMLElement[] {
        const { cut } = this.choices;
        const changed = this.events.cut;
        const axes = AXES.slice(0, dim).map((name, k) => ({ value: String(k), label: name }));
        return [
            checkbox("cut-on", "cut along a plane", false, (on) => { cut.on = on; changed(); }),
            line("normal to", select("cut-axis", axes, String(cut.axis), (k) => { cut.axis = Number(k) as 0 | 1 | 2; changed(); })),
            line("at", slider("cut-place", 0, 1, cut.place, (v) => { cut.place = v; changed(); }), this.cutOutput),
            checkbox("cut-flip", "keep the other side", false, (on) => { cut.flip = on; changed(); }),
        ];
    }

    showCut(position: number, unit: string): void {
        this.cutOutput.textContent = this.choices.cut.on ? `${shortNumber(position)}${unit}` : "";
    }

    setHasContacts(has: boolean): void {
        this.noContacts.hidden = has;
        for (const id of ["contacts-visible", "contact-width"]) {
            this.element.querySelector<HTMLInputElement>(`#${id}`)!.disabled = !has;
        }
    }

    /** Tick or untick the box of that name, as the user would. */
    toggle(id: string, on?: boolean): void {
        const box = this.element.querySelector<HTMLInputElement>(`#${id}`);
        if (!box || box.disabled || box.checked === on) return;
        box.click();
    }
}
