// The frame of the page: bar at the top, canvas with notes, panel, time, charts. On a narrow screen
// the panel and the charts are sheets that come up from the bottom.
import type { Run } from "../data/run";
import type { View } from "../draw/stage";
import type { Store } from "../settings";
import { button, make } from "./dom";
import { icon } from "./icons";
import { KEYS } from "./keys";

export interface LayoutEvents {
    view(view?: View): void;
    export(): void;
    box(): void;
    /** A click at a point of the canvas; `add`: with Ctrl or Shift. */
    click(x: number, y: number, add: boolean): void;
    /** A box was drawn. */
    boxed(left: number, top: number, right: number, bottom: number, add: boolean): void;
}

const STILL = 4; // pixels: a press that moves farther is a drag, not a click
const NARROW = "(max-width: 760px)";

export class Layout {
    readonly canvas = make("canvas", { id: "stage", tabindex: "0", "aria-label": "grains" });
    readonly overlay = make("canvas", { class: "overlay", "aria-hidden": "true" });
    private readonly status = make("span", { class: "status", id: "status" });
    private readonly counts = make("span", { class: "counts" });
    private readonly notes = make("div", { class: "notes", id: "notes", role: "status" });
    private readonly marker = make("div", { class: "marker", hidden: "" });
    private readonly rubber = make("div", { class: "rubber", hidden: "" });
    private readonly help = make("dialog", { class: "dialog help", id: "help" });
    private readonly main = make("main");
    private readonly column = make("div", { class: "column" });
    private readonly stage = make("div", { class: "stage" });
    private boxing = false;

    constructor(run: Run, private readonly store: Store, private readonly events: LayoutEvents) {
        document.title = `${run.title} – Talus`;
        const tool = (name: Parameters<typeof icon>[0], title: string, act: () => void): HTMLButtonElement => button(icon(name), title, act);
        const sides: [View, string][] = [["x", "x (1)"], ["y", "y (2)"], ["z", "z (3)"]];
        const views = run.dim === 2 ? []
            : [make("div", { class: "group" }, ...sides.map(([view, name]) => button(view, `look along ${name}`, () => events.view(view))),
                   tool("cube", "look along a diagonal (0)", () => events.view("iso")))];
        const panelButton = tool("panel", "controls (p)", () => this.toggleSheet("panel"));
        const chartButton = tool("chart", "charts (h)", () => this.toggleSheet("charts"));
        const bar = make("header", { class: "bar" },
            make("span", { class: "brand" }, "Talus"), make("h1", { title: run.title }, run.title), this.status, this.counts,
            make("span", { class: "gap" }), ...views,
            make("div", { class: "group" },
                tool("fit", "show everything (r)", () => events.view()),
                tool("box", "select by a box (b)", () => events.box()),
                tool("camera", "pictures and movies (m)", () => events.export())),
            make("div", { class: "group" }, chartButton, panelButton),
            make("div", { class: "group" },
                tool("link", "copy the address of this view (l)", () => void this.copyAddress()),
                tool("theme", "light or dark (t)", () => this.toggleTheme()),
                tool("help", "keys (?)", () => this.toggleHelp())));
        this.fillHelp(run.dim);
        this.stage.append(this.canvas, this.overlay, this.marker, this.rubber, this.notes);
        this.column.append(this.stage);
        this.main.append(this.column);
        document.body.replaceChildren(bar, this.main, this.help);
        this.applyTheme();
        store.on(["theme"], () => this.applyTheme());
        store.on(["charts.on"], () => this.applySheets());
        this.watchPointer();
    }

    fill(panel: HTMLElement, transport: HTMLElement, charts: HTMLElement, dialogs: HTMLElement[]): void {
        this.column.append(transport, charts);
        this.main.append(panel);
        document.body.append(...dialogs);
        if (this.narrow) document.body.classList.add("no-panel", "no-charts");
        this.applySheets();
    }

    get narrow(): boolean {
        return window.matchMedia(NARROW).matches;
    }

    // ---- sheets and themes -----------------------------------------------------------------------

    /** Show or hide the panel or the charts; on a narrow screen one of them at a time. */
    toggleSheet(which: "panel" | "charts"): void {
        const list = document.body.classList;
        if (which === "charts" && !this.narrow) {
            this.store.set("charts.on", !this.store.get("charts.on"));
            return;
        }
        list.toggle(`no-${which}`);
        if (this.narrow && !list.contains(`no-${which}`)) list.add(which === "panel" ? "no-charts" : "no-panel");
    }

    private applySheets(): void {
        if (!this.narrow) document.body.classList.toggle("no-charts", !this.store.get("charts.on"));
    }

    toggleTheme(): void {
        this.store.set("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    }

    private applyTheme(): void {
        const wanted = this.store.get("theme");
        const dark = wanted === "dark" || (wanted === "" && window.matchMedia("(prefers-color-scheme: dark)").matches);
        document.documentElement.dataset.theme = dark ? "dark" : "light";
    }

    toggleHelp(): void {
        if (this.help.open) this.help.close();
        else this.help.showModal();
    }

    private fillHelp(dim: 2 | 3): void {
        const close = button("×", "close (Escape)", () => this.help.close());
        this.help.append(make("header", {}, make("b", {}, "Keys"), close),
            make("div", { class: "keys" }, ...KEYS.filter((group) => !group.only || group.only === dim).map((group) =>
                make("section", {}, make("h2", {}, group.title), make("table", {}, ...group.keys.map(([keys, what]) =>
                    make("tr", {}, make("th", {}, ...keys.split(" ").map((k) => make("kbd", {}, k))), make("td", {}, what))))))));
        this.help.addEventListener("click", (event) => event.target === this.help && this.help.close());
    }

    async copyAddress(): Promise<void> {
        const { href } = location;
        try {
            await navigator.clipboard.writeText(href);
            this.flash("The address of this view is on the clipboard.");
        } catch {
            this.flash("The address of this view stands in the address bar.");
        }
    }

    private flash(text: string): void {
        const note = make("p", { class: "flash" }, text);
        this.notes.append(note);
        setTimeout(() => note.remove(), 3000);
    }

    // ---- the pointer on the canvas ------------------------------------------------------------------

    /** The next drag draws a box. */
    setBoxing(on: boolean): void {
        this.boxing = on;
        this.canvas.classList.toggle("boxing", on);
    }

    get isBoxing(): boolean {
        return this.boxing;
    }

    private watchPointer(): void {
        let down: { x: number; y: number; box: boolean } | undefined;
        const at = (e: PointerEvent): { x: number; y: number } => {
            const box = this.canvas.getBoundingClientRect();
            return { x: e.clientX - box.left, y: e.clientY - box.top };
        };
        // Before the camera's controls hear of it: a box is no turn.
        this.stage.addEventListener("pointerdown", (e) => {
            if (e.target !== this.canvas || e.button !== 0) return;
            down = { ...at(e), box: this.boxing || e.shiftKey };
            if (down.box) {
                e.stopPropagation();
                this.canvas.setPointerCapture(e.pointerId);
            }
        }, { capture: true });
        this.canvas.addEventListener("pointermove", (e) => {
            if (down?.box) this.showRubber(down, at(e));
        });
        this.canvas.addEventListener("pointerup", (e) => {
            if (!down || e.button !== 0) return;
            const [from, to] = [down, at(e)];
            down = undefined;
            this.rubber.hidden = true;
            const still = Math.hypot(to.x - from.x, to.y - from.y) <= STILL;
            const add = e.ctrlKey || e.metaKey;
            if (still) this.events.click(to.x, to.y, add || e.shiftKey);
            else if (from.box) {
                this.events.boxed(Math.min(from.x, to.x), Math.min(from.y, to.y), Math.max(from.x, to.x), Math.max(from.y, to.y), add);
            }
            this.setBoxing(false);
        });
    }

    private showRubber(from: { x: number; y: number }, to: { x: number; y: number }): void {
        const { style } = this.rubber;
        this.rubber.hidden = false;
        style.transform = `translate(${Math.min(from.x, to.x)}px, ${Math.min(from.y, to.y)}px)`;
        style.width = `${Math.abs(to.x - from.x)}px`;
        style.height = `${Math.abs(to.y - from.y)}px`;
    }

    // ---- what the page says --------------------------------------------------------------------

    showRun(run: Run): void {
        this.status.textContent = run.export ? "exported" : run.running ? "running" : "ended";
        this.status.dataset.state = run.running ? "running" : "still";
        const frames = run.frames.length;
        const grains = run.frames[frames - 1]?.grains ?? 0;
        this.counts.textContent = `${run.dim}D, ${grains.toLocaleString("en")} grains, ${frames} frame${frames === 1 ? "" : "s"}`
            + (run.reduced_units ? ", reduced units" : "");
    }

    showNotes(texts: string[]): void {
        this.notes.replaceChildren(...texts.map((text) => make("p", {}, text)));
    }

    placeMarker(at: { x: number; y: number; radius: number } | undefined): void {
        this.marker.hidden = !at;
        if (!at) return;
        const radius = Math.max(at.radius, 4) + 3;
        this.marker.style.transform = `translate(${at.x - radius}px, ${at.y - radius}px)`;
        this.marker.style.width = this.marker.style.height = `${2 * radius}px`;
    }

    get noteTexts(): string[] {
        return [...this.notes.children].map((note) => note.textContent ?? "");
    }
}
