// The frame of the page: bar at the top, canvas with legends and notes, panel, time, charts.
import type { Run } from "../data/run";
import type { View } from "../draw/stage";
import { button, make } from "./dom";

export interface LayoutEvents {
    view(view?: View): void;
    projection(): void;
    screenshot(): void;
    theme(): void;
}

const STILL = 4; // pixels: a press that moves farther is a drag, not a click

export class Layout {
    readonly canvas = make("canvas", { id: "stage", tabindex: "0", "aria-label": "grains" });
    onClick: (x: number, y: number) => void = () => {};
    private readonly status = make("span", { class: "status", id: "status" });
    private readonly counts = make("span", { class: "counts" });
    private readonly notes = make("div", { class: "notes", id: "notes", role: "status" });
    private readonly legends = make("div", { class: "legends" });
    private readonly marker = make("div", { class: "marker", hidden: "" });
    private readonly help = make("div", { class: "help", hidden: "" });
    private readonly main = make("main");

    constructor(run: Run, private readonly events: LayoutEvents) {
        document.title = `${run.title} – Talus`;
        const sides: [View, string][] = [["x", "x (1)"], ["y", "y (2)"], ["z", "z (3)"], ["iso", "a diagonal (0)"]];
        const views = run.dim === 2 ? []
            : sides.map(([view, name]) => button(view, `look along ${name}`, () => events.view(view)));
        const bar = make("header", { class: "bar" },
            make("span", { class: "brand" }, "Talus"), make("h1", {}, run.title), this.status, this.counts,
            make("span", { class: "gap" }), ...views,
            button("fit", "show everything (r)", () => events.view()),
            ...(run.dim === 3 ? [button("persp.", "perspective or parallel projection (o)", () => events.projection())] : []),
            button("picture", "save a picture of this view (s)", () => events.screenshot()),
            button("theme", "light or dark (t)", () => this.toggleTheme()),
            button("?", "keys (?)", () => this.toggleHelp()));
        this.fillHelp(run.dim);
        const stage = make("div", { class: "stage" }, this.canvas, this.marker, this.notes, this.legends, this.help);
        this.main.append(stage);
        document.body.replaceChildren(bar, this.main);
        this.watchClicks();
    }

    fill(panel: HTMLElement, transport: HTMLElement, charts: HTMLElement, legends: HTMLElement[]): void {
        this.main.append(panel);
        document.body.append(transport, charts);
        this.legends.append(...legends);
    }

    private watchClicks(): void {
        let down = { x: 0, y: 0 };
        this.canvas.addEventListener("pointerdown", (e) => { down = { x: e.clientX, y: e.clientY }; });
        this.canvas.addEventListener("pointerup", (e) => {
            if (e.button !== 0 || Math.hypot(e.clientX - down.x, e.clientY - down.y) > STILL) return;
            const box = this.canvas.getBoundingClientRect();
            this.onClick(e.clientX - box.left, e.clientY - box.top);
        });
    }

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

    toggleTheme(): void {
        const root = document.documentElement;
        root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
        this.events.theme();
    }

    toggleHelp(): void {
        this.help.hidden = !this.help.hidden;
    }

    private fillHelp(dim: 2 | 3): void {
        const keys: [string, string][] = [
            ["space", "play, pause"], ["← →", "frame before, next (with Shift: ten)"], ["Home End", "first, last frame"],
            ["c", "contacts"], ["g", "grains"], ["w", "walls"], ["k", "cut"], ["f", "follow a run that goes on"], ["r", "fit the view"],
            ...(dim === 3 ? [["1 2 3 0", "look along x, y, z, a diagonal"], ["o", "perspective or parallel"]] as [string, string][] : []),
            ["s", "save a picture"], ["t", "light or dark"], ["Escape", "pick none"], ["?", "this list"],
        ];
        const mouse: [string, string][] = dim === 3
            ? [["drag", "turn"], ["right drag", "move"], ["wheel", "zoom"], ["click", "pick a grain"]]
            : [["drag", "move"], ["wheel", "zoom"], ["click", "pick a grain"]];
        this.help.append(make("table", {}, ...[...keys, ...mouse].map(([key, what]) =>
            make("tr", {}, make("th", {}, key), make("td", {}, what)))));
    }
}
