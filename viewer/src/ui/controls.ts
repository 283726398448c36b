// Controls that are bound to settings: they show what a setting is, and change it. The id of a
// control is the name of its setting, with - for the point.
import { DEFAULTS, type Name, type NameOf, type Store } from "../settings";
import { checkbox, make, select, setOptions, type Option } from "./dom";

export function idOf(name: Name): string {
    return name.replace(".", "-");
}

export class Controls {
    constructor(readonly store: Store) {}

    toggle(name: NameOf<boolean>, label: string): HTMLLabelElement {
        const element = checkbox(idOf(name), label, this.store.get(name), (on) => this.store.set(name, on));
        this.store.on([name], () => { element.querySelector("input")!.checked = this.store.get(name); });
        return element;
    }

    /** A slider; `text` is what stands beside it. */
    range(name: NameOf<number>, low: number, high: number, text?: (value: number) => string, step = (high - low) / 200): HTMLElement {
        const input = make("input", { id: idOf(name), type: "range", min: String(low), max: String(high), step: String(step) });
        const output = make("output", { class: "value" });
        const show = (): void => {
            input.value = String(this.store.get(name));
            output.textContent = text?.(this.store.get(name)) ?? "";
        };
        input.addEventListener("input", () => this.store.set(name, input.valueAsNumber));
        this.store.on([name], show);
        show();
        return make("span", { class: "slider" }, input, ...(text ? [output] : []));
    }

    menu(name: NameOf<string>, options: Option[]): HTMLSelectElement {
        const element = select(idOf(name), options, this.store.get(name), (value) => this.store.set(name, value));
        this.store.on([name], () => { element.value = this.store.get(name); });
        return element;
    }

    /** Other choices in a menu; what is chosen stays. */
    refill(menu: HTMLSelectElement, name: NameOf<string>, options: Option[]): void {
        setOptions(menu, options, this.store.get(name));
    }

    /** A part of the panel that can be folded, with a switch in its head if it can be off. Switched on
     *  it unfolds, so that its controls are at hand. */
    section(title: string, open: boolean, on: NameOf<boolean> | undefined, ...content: (Node | string)[]): HTMLDetailsElement {
        const head = make("summary", {}, make("span", { class: "title" }, title));
        const element = make("details", { class: "section" }, head, make("div", { class: "body" }, ...content));
        element.open = open || (on !== undefined && this.store.get(on) && !DEFAULTS[on]);
        if (!on) return element;
        const box = make("input", { id: idOf(on), type: "checkbox", class: "switch", role: "switch", "aria-label": title });
        const show = (): void => {
            box.checked = this.store.get(on);
            element.classList.toggle("off", !box.checked);
            if (box.checked && this.ready) {
                element.open = true;
                element.scrollIntoView({ block: "nearest" });
            }
        };
        box.addEventListener("click", (event) => event.stopPropagation());
        box.addEventListener("change", () => this.store.set(on, box.checked));
        this.store.on([on], show);
        show();
        head.append(box);
        return element;
    }

    /** Set when the panel is on the page: sections unfold from then on only. */
    ready = false;
}
