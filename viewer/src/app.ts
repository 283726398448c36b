// The page: shows one frame of a run at a time. Fetches only what is to be seen; when frames are asked
// for faster than they come, the newest wish counts.
import { Frames } from "./data/frames";
import { shortNumber, shownUnit } from "./data/fields";
import { rowsOf, spreadOverFrames, waysOf } from "./data/history";
import { Loading, LOAD, type LoadedFrame, type Wanted } from "./data/loading";
import type { FrameInfo, Run, Solid } from "./data/run";
import { nearest, parseSeries, type Series } from "./data/series";
import type { Numbers, Source } from "./data/source";
import { Theatre } from "./draw/theatre";
import type { View } from "./draw/stage";
import { DEFAULTS, type Store } from "./settings";
import { Charts } from "./ui/charts";
import { Colouring } from "./ui/colouring";
import { Controls } from "./ui/controls";
import { Exactness } from "./ui/exactness";
import { Exporting } from "./ui/exporting";
import { Inspector } from "./ui/inspector";
import { Layout } from "./ui/layout";
import { Panel } from "./ui/panel";
import { Picturing } from "./ui/picturing";
import { Selection } from "./ui/selection";
import { Transport } from "./ui/transport";

const AHEAD = 3; // frames fetched ahead while playing
const POLL = 1000; // ms between looks at a run that goes on
const POLL_ENDED = 2000; // ... at one that has ended, but may be resumed or done anew
const STILL = 2e-3; // of the largest kinetic energy: a run with less is at rest
const SPEED = "velocity.|.|";
const TRAILS = 200; // grains that have trails, at most
const SHRUNK = 0.35; // size of grains in space that make room for the forces between them
const OUTLIER = 2.5; // arrows and bars beyond so many times the typical size are drawn no larger
const FADED = 0.3; // opacity of grains that do

export class App {
    readonly layout: Layout;
    readonly theatre: Theatre;
    readonly frames: Frames;
    readonly loading: Loading;
    readonly grainColouring: Colouring;
    readonly contactColouring: Colouring;
    readonly selection: Selection;
    readonly inspector: Inspector;
    readonly exactness: Exactness;
    readonly panel: Panel;
    readonly transport: Transport;
    readonly charts: Charts;
    readonly exporting: Exporting;
    readonly picturing: Picturing;
    frame = -1;
    grainValues: Float32Array = new Float32Array(0);
    private ids: Numbers | undefined;
    private chains: LoadedFrame["chains"];
    private arrows: Numbers | undefined;
    private series: Series = parseSeries("");
    private wish = 0;
    private asked = -1;
    private plays = 0;
    private fitted = false;
    private readonly notes = new Map<string, string>();

    constructor(private readonly source: Source, public run: Run, shapes: Solid[], readonly store: Store) {
        const { dim } = run;
        if (store.get("cut.axis") === "") store.set("cut.axis", dim === 2 ? "x" : "y");
        this.layout = new Layout(run, store, {
            view: (view) => this.fit(view), export: () => this.exporting.open(), box: () => this.startBox(),
            click: (x, y, add) => void this.clickAt(x, y, add),
            boxed: (left, top, right, bottom, add) => void this.chooseWithin(left, top, right, bottom, add),
        });
        this.frames = new Frames(source, run);
        this.loading = new Loading(this.frames, run);
        this.theatre = new Theatre(this.layout.canvas, dim, shapes);
        const controls = new Controls(store);
        const again = (): void => void this.show(this.frame);
        const redraw = (): void => this.theatre.stage.invalidate();
        this.grainColouring = new Colouring("colour", controls, this.theatre.grainColours, undefined, {
            field: again, scale: redraw,
            spread: (scalar) => spreadOverFrames(this.run.frames.length, this.run.frames.at(-1)?.grains ?? 0,
                (frame) => this.loading.values(frame, scalar), (done, of) => this.note("spread", done < of ? `Looking at frame ${done} of ${of} for the scale …` : undefined)),
        });
        this.contactColouring = new Colouring("forces", controls, this.theatre.contactColours, "compression and tension", {
            field: again, scale: redraw,
            spread: (scalar) => spreadOverFrames(this.run.frames.length, this.run.frames.at(-1)?.contacts ?? 0,
                async (frame) => (await this.loading.load(frame, { ...this.wanted, contacts: { colour: scalar } })).chains?.values ?? new Float32Array(0),
                () => {}),
        });
        this.selection = new Selection(controls, {
            ids: () => this.frames.array(this.frame, "grains", "id"),
            values: (scalar) => this.loading.values(this.frame, scalar),
            changed: () => void this.showSelection(),
            box: () => this.startBox(),
        });
        this.inspector = new Inspector(this.frames, (id) => this.pick(id));
        this.exactness = new Exactness((id) => this.pick(id));
        this.panel = new Panel(dim, run.frames.some((f) => f.periodic.some(Boolean)), controls, {
            grains: this.grainColouring, forces: this.contactColouring, selection: this.selection,
            inspector: this.inspector, exactness: this.exactness });
        this.transport = new Transport((frame) => void this.goTo(frame), (on) => on && void this.play());
        this.charts = new Charts(store, (time) => this.showTime(time));
        this.picturing = new Picturing(this);
        this.exporting = new Exporting(() => this.picturing.studio);
        this.layout.fill(this.panel.element, this.transport.element, this.charts.element, [this.exporting.element]);
        this.theatre.stage.onDrawn = () => this.picturing.draw();
        this.theatre.stage.onMoved = () => this.rememberCamera();
        this.theatre.stage.onResized = () => this.refit();
        this.listen();
        this.restyle();
    }

    /** What happens when a setting changes. */
    private listen(): void {
        const { store } = this;
        const again = (): void => void this.show(this.frame);
        store.on(["frame"], () => { if (this.wantedFrame !== this.asked) void this.show(this.wantedFrame); });
        store.on(["camera"], () => this.applyCamera());
        store.on(["theme"], () => this.restyle());
        store.on(["parallel"], () => this.theatre.stage.setPerspective(!store.get("parallel")));
        store.on(["grains", "forces.grains"], () => this.styleGrains());
        store.on(["forces.on", "arrows.on", "arrows.field"], () => { this.styleGrains(); again(); });
        store.on(["forces.width", "forces.least", "forces.field"], () => this.styleForces());
        store.on(["arrows.length", "arrows.colour"], () => this.styleArrows());
        store.on(["trails"], () => void this.showTrails());
        store.on(["walls", "cell", "images"], () => this.styleWalls());
        store.on(["images"], () => this.refit());
        store.on(["cut"], () => this.showCut());
        store.on(["look"], () => this.styleLook());
        store.on(["picked"], () => void this.showPicked());
    }

    /** Show the frame that the address names, else the newest. */
    async start(): Promise<void> {
        await this.loadSeries();
        this.applyRun();
        this.theatre.stage.setPerspective(!this.store.get("parallel"));
        this.styleGrains();
        this.styleWalls();
        this.styleLook();
        await this.show(this.wantedFrame);
        await this.selection.evaluate();
        await this.showPicked();
        this.pollLater();
    }

    private get wantedFrame(): number {
        const frame = this.store.get("frame");
        const last = this.run.frames.length - 1;
        return frame < 0 ? last : Math.min(frame, last);
    }

    private pollLater(): void {
        if (!this.run.export) setTimeout(() => void this.poll(), this.run.running ? POLL : POLL_ENDED);
    }

    private applyRun(): void {
        const { run } = this;
        this.frames.update(run);
        this.loading.update(run);
        this.layout.showRun(run);
        this.grainColouring.setScalars(this.loading.grainScalars, this.preferredField());
        this.contactColouring.setScalars(this.loading.contactScalars, "");
        this.selection.setScalars(this.loading.grainScalars);
        this.panel.setFields(run.fields.grains, run.dim);
        this.transport.show(this.frame, run.frames, run.running, run.reduced_units);
    }

    /** Speeds of grains at rest tell nothing: then what they carry. */
    private preferredField(): string {
        const energy = this.series.columns[this.series.names.indexOf("kinetic_energy")] ?? new Float64Array(0);
        const most = energy.reduce((m, e) => Math.max(m, e || 0), 0);
        const still = !this.run.running && energy.length > 0 && !(energy[energy.length - 1] > STILL * most);
        const scalars = this.loading.grainScalars;
        const keys = still ? [LOAD, SPEED] : [SPEED, LOAD];
        return keys.find((key) => scalars.some((s) => s.key === key)) ?? scalars[0]?.key ?? "";
    }

    /** Say something about one matter, or (without text) take it back. */
    note(matter: string, text?: string): void {
        if (text) this.notes.set(matter, text);
        else if (!this.notes.delete(matter)) return;
        this.layout.showNotes([...this.notes.values()]);
    }

    get info(): FrameInfo | undefined {
        return this.run.frames[this.frame];
    }

    // ---- frames ------------------------------------------------------------------------------

    /** Show a frame because the user wants that one. The last one is followed if there come more. */
    async goTo(frame: number): Promise<void> {
        const shown = frame === this.asked ? undefined : this.show(frame);
        this.store.set("frame", frame >= this.run.frames.length - 1 ? DEFAULTS.frame : frame);
        await shown;
    }

    /** Show a frame. Resolves when it is on the stage, or when another wish has overtaken it. */
    async show(frame: number): Promise<void> {
        const wish = ++this.wish;
        this.asked = frame;
        const info = this.run.frames[frame];
        this.note("frames", info ? undefined : "No frame has been recorded yet.");
        if (!info) return;
        this.transport.show(frame, this.run.frames, this.run.running, this.run.reduced_units);
        try {
            const loaded = await this.loading.load(frame, this.wanted);
            if (wish !== this.wish) return;
            this.note("load");
            const other = this.frame !== frame;
            this.frame = frame;
            this.put(loaded, info);
            if (other && this.selection.live) await this.selection.evaluate();
            await Promise.all([this.showPicked(), this.showTrails()]);
        } catch (error) {
            if (wish === this.wish) this.note("load", `Frame ${frame} cannot be shown. ${messageOf(error)}`);
        }
        this.charts.setTime(info.time);
        this.showExactness();
    }

    private get wanted(): Wanted {
        const { store } = this;
        return {
            colour: this.grainColouring.scalar,
            contacts: store.get("forces.on") ? { colour: this.contactColouring.scalar } : undefined,
            ids: store.get("picked") >= 0 || this.selection.chosen !== undefined,
            arrows: store.get("arrows.on") ? store.get("arrows.field") : "",
            shapes: this.theatre.hasSolids,
        };
    }

    private put(loaded: LoadedFrame, info: FrameInfo): void {
        const { scalar } = this.grainColouring;
        this.note("field", scalar && !loaded.values ? `No colours: frame ${this.frame} has no field '${scalar.label}'. ${loaded.missing}` : undefined);
        this.note("grains", info.grains === 0 ? "This frame has no grains." : undefined);
        this.ids = loaded.ids;
        this.grainValues = loaded.values ?? new Float32Array(info.grains).fill(NaN);
        this.chains = loaded.chains;
        this.arrows = loaded.arrows;
        this.theatre.setGrains(loaded.arrays);
        this.styleGrains();
        this.putValues();
        this.grainColouring.setValues(this.grainValues);
        this.theatre.setSurface(loaded.surface, info);
        this.theatre.setImages(this.store.get("images"), info);
        this.theatre.setContacts(loaded.chains);
        if (loaded.chains) this.contactColouring.setValues(loaded.chains.values);
        this.styleForces();
        this.styleArrows();
        this.panel.setHasContacts(info.contacts >= 0);
        this.showCut();
        if (!this.fitted && (info.grains > 0 || loaded.surface.cells.length > 0)) {
            if (this.store.get("camera") === "") this.picturing.fit("iso");
            else this.applyCamera();
            this.fitted = info.grains > 0; // once more when there are some
        }
    }

    /** Colours of the grains, and which are selected. */
    private putValues(): void {
        const states = this.selection.statesOf(this.ids, this.grainValues.length);
        this.theatre.setValues(this.grainValues, states);
        this.theatre.setArrows(this.arrows, this.run.dim, this.grainValues);
        void this.selection.show(this.store.get("colour.field"), this.ids);
    }

    private showExactness(): void {
        this.exactness.show(this.series, this.info, this.timeUnit);
    }

    get timeUnit(): string {
        return this.run.reduced_units ? "" : " s";
    }

    showTime(time: number): void {
        const frame = nearest(this.run.frames.map((f) => f.time), time);
        if (frame >= 0 && frame !== this.frame) void this.goTo(frame);
    }

    // ---- playing and following -----------------------------------------------------------------

    private async play(): Promise<void> {
        const turn = ++this.plays;
        if (this.frame >= this.run.frames.length - 1 && !this.run.running) await this.show(0);
        while (this.transport.playing && turn === this.plays) {
            const due = performance.now() + 1000 / this.transport.speed;
            const next = this.nextFrame();
            if (next === undefined) break;
            for (let k = 1; k <= AHEAD; k++) this.prefetch(next + k);
            await this.show(next);
            await new Promise((done) => setTimeout(done, Math.max(due - performance.now(), 0)));
        }
        if (turn !== this.plays) return;
        this.store.set("frame", this.frame >= this.run.frames.length - 1 ? DEFAULTS.frame : this.frame);
        if (this.transport.playing) this.transport.setPlaying(false);
    }

    private nextFrame(): number | undefined {
        if (this.frame + 1 < this.run.frames.length) return this.frame + 1;
        return this.transport.repeat && this.run.frames.length > 1 ? 0 : undefined;
    }

    private prefetch(frame: number): void {
        if (frame < this.run.frames.length) this.loading.load(frame, this.wanted).catch(() => {}); // said when it is shown
    }

    /** Look whether there are new frames. */
    private async poll(): Promise<void> {
        try {
            // Only the frames that are new, unless those that the page knows are not the run's any more.
            const known = this.run.frames;
            const run = await this.source.json<Run>(`api/run.json?after=${known.length}&mark=${this.run.mark}`);
            run.frames = [...known.slice(0, run.first), ...run.frames];
            this.note("poll");
            const atEnd = this.frame >= this.run.frames.length - 1;
            const news = run.generation !== this.run.generation || run.running !== this.run.running;
            this.run = run;
            if (news) {
                this.grainColouring.forgetAll();
                this.applyRun();
                await this.loadSeries();
                const gone = this.frame >= run.frames.length;
                if ((this.transport.follow && atEnd) || gone) await this.show(run.frames.length - 1);
            }
        } catch (error) {
            this.note("poll", messageOf(error));
        }
        this.pollLater();
    }

    private async loadSeries(): Promise<void> {
        try {
            this.series = parseSeries(await this.source.text("api/series.csv"));
            this.charts.setUnits(this.run.series_units ?? {}, this.timeUnit.trim());
            this.charts.setSeries(this.series);
            this.showExactness();
            this.note("series");
        } catch (error) {
            this.note("series", `No charts. ${messageOf(error)}`);
        }
    }

    // ---- picking and selecting -------------------------------------------------------------------

    private async clickAt(x: number, y: number, add: boolean): Promise<void> {
        const row = this.theatre.pickAt(x, y);
        if (row < 0) {
            if (!add) this.pick(undefined);
            return;
        }
        const id = (await this.frames.array(this.frame, "grains", "id"))[row];
        if (add) this.selection.choose([id], true);
        else this.pick(id);
    }

    private async chooseWithin(left: number, top: number, right: number, bottom: number, add: boolean): Promise<void> {
        const rows = this.theatre.rowsWithin(left, top, right, bottom);
        const ids = await this.frames.array(this.frame, "grains", "id");
        this.selection.choose(rows.map((row) => ids[row]), add);
    }

    startBox(): void {
        this.layout.setBoxing(!this.layout.isBoxing);
    }

    /** Pick and select none. */
    clear(): void {
        if (this.store.get("picked") >= 0) this.pick(undefined);
        else if (this.selection.chosen) this.selection.clear();
    }

    /** Pick a grain by its identity; it stays picked in other frames. */
    pick(id: number | undefined): void {
        this.store.set("picked", id ?? -1);
    }

    get picked(): number | undefined {
        const id = this.store.get("picked");
        return id < 0 ? undefined : id;
    }

    private async needIds(): Promise<void> {
        const { frame } = this;
        const ids = frame >= 0 && this.frames.field("grains", "id") ? await this.frames.array(frame, "grains", "id") : undefined;
        if (frame === this.frame) this.ids = ids;
    }

    private async showPicked(): Promise<void> {
        const { picked } = this;
        this.panel.showPicked(picked !== undefined);
        if (picked === undefined) {
            this.inspector.clear();
        } else if (this.frame >= 0) {
            await this.needIds();
            await this.inspector.show(this.run, this.frame, picked, this.rowOf(picked));
        }
        this.picturing.draw();
        if (this.store.get("trails.on")) await this.showTrails();
    }

    rowOf(id: number): number {
        return this.ids ? this.ids.indexOf(id) : -1;
    }

    private async showSelection(): Promise<void> {
        if (this.frame < 0) return;
        if (this.selection.chosen) await this.needIds();
        this.putValues();
        await this.showTrails();
    }

    /** Trails of the selected grains and of the picked one. */
    private async showTrails(): Promise<void> {
        const { info, frame } = this;
        if (!info) return;
        const grains = [...new Set([...(this.picked === undefined ? [] : [this.picked]), ...(this.selection.chosen ?? [])])];
        const on = this.store.get("trails.on");
        const some = grains.slice(0, TRAILS);
        this.panel.showTrails(grains.length === 0 ? "Of the picked grain and of the selected ones: pick or select some."
            : grains.length > TRAILS ? `Of ${TRAILS} of the ${grains.length.toLocaleString("en")} selected grains.` : "");
        if (!on || some.length === 0) {
            this.theatre.setTrails([], info);
            return;
        }
        const first = Math.max(frame - this.store.get("trails.frames"), 0);
        const [ways, ids] = await Promise.all([waysOf(this.frames, some, first, frame, this.run.dim), this.frames.array(frame, "grains", "id")]);
        if (frame !== this.frame || !this.store.get("trails.on")) return;
        const rows = rowsOf(ids, some);
        this.theatre.setTrails(ways.map((points, n) => ({ points, value: this.grainValues[rows[n]] ?? NaN })), info);
    }

    // ---- looks -------------------------------------------------------------------------------

    fit(view?: View): void {
        this.picturing.fit(view);
        this.store.set("camera", "");
        if (view && view !== "iso") this.rememberCamera();
    }

    /** Everything in sight again, unless the user has chosen another view. */
    private refit(): void {
        if (this.fitted && this.store.get("camera") === "") this.picturing.fit();
    }

    private rememberCamera(): void {
        const { position, target, height } = this.theatre.camera;
        this.store.set("camera", [...position, ...target, height].map((x) => Number(x.toPrecision(5))).join(","));
    }

    /** The camera as the setting says, if it says anything. */
    private applyCamera(): void {
        const numbers = this.store.get("camera").split(",").map(Number);
        if (numbers.length !== 7 || numbers.some((x) => !Number.isFinite(x))) return;
        const { position, target, height } = this.theatre.camera;
        const now = [...position, ...target, height].map((x) => Number(x.toPrecision(5)));
        if (numbers.every((x, i) => x === now[i])) return;
        this.theatre.setCamera(numbers.slice(0, 3), numbers.slice(3, 6), numbers[6]);
    }

    /** Grains as the user wants them; where forces are shown they make room for them. */
    private styleGrains(): void {
        const { store } = this;
        const forces = store.get("forces.on") ? store.get("forces.grains") : "stay";
        const way = forces === "auto" ? (this.run.dim === 3 ? "shrink" : "fade") : forces;
        this.theatre.setGrainStyle({
            visible: store.get("grains.on"), marks: store.get("grains.marks"),
            size: store.get("grains.size") * (way === "shrink" ? SHRUNK : 1),
            opacity: store.get("grains.opacity") * (way === "fade" ? FADED : 1),
        });
    }

    /** Mean size of the normal forces of this frame that are not zero. */
    private get meanForce(): number {
        const forces = (this.chains?.force ?? new Float32Array(0)).filter((f) => f !== 0);
        return forces.length > 0 ? forces.reduce((sum, f) => sum + Math.abs(f), 0) / forces.length : 1;
    }

    /** Half width of the bars for each newton: four times the mean force makes them `width` radii wide. */
    get barWidth(): number {
        return (this.store.get("forces.width") * this.theatre.meanRadius) / (4 * this.meanForce);
    }

    get forces(): { tension: boolean; mean: number; least: number } | undefined {
        const { chains, meanForce } = this;
        return chains && { tension: chains.force.some((f) => f < 0), mean: meanForce, least: this.store.get("forces.least") * meanForce };
    }

    private styleForces(): void {
        if (!this.chains) return;
        const { barWidth, meanForce } = this;
        this.theatre.bars.setWidth(barWidth, OUTLIER * 4 * meanForce * barWidth, this.store.get("forces.least") * meanForce);
        this.theatre.bars.setPlain(!this.contactColouring.scalar);
        this.theatre.stage.invalidate();
    }

    /** Arrows of the typical large vector (the 95th percentile) are `length` diameters long. */
    private styleArrows(): void {
        if (!this.arrows) return;
        const { dim } = this.run;
        const sizes = Float64Array.from({ length: this.arrows.length / dim }, (_, row) =>
            Math.hypot(...this.arrows!.subarray(dim * row, dim * (row + 1)))).sort();
        const large = sizes[Math.floor(0.95 * (sizes.length - 1))] || 1;
        const { meanRadius } = this.theatre;
        const ink = document.documentElement.dataset.theme === "dark" ? [0.95, 0.95, 0.95] : [0.1, 0.12, 0.15];
        const typical = this.store.get("arrows.length") * 2 * meanRadius;
        this.theatre.arrows.setStyle(typical / large, OUTLIER * typical, 0.11 * meanRadius,
                                     this.store.get("arrows.colour") === "plain" ? ink : undefined);
        this.theatre.stage.invalidate();
    }

    private styleWalls(): void {
        const { store, theatre } = this;
        theatre.walls.setVisible(store.get("walls.on"), store.get("cell.on"));
        theatre.walls.setOpacity(store.get("walls.opacity"));
        if (this.info) theatre.setImages(store.get("cell.on") ? store.get("images") : 0, this.info);
        theatre.stage.invalidate();
    }

    private showCut(): void {
        const { store } = this;
        this.theatre.setCut({ on: store.get("cut.on"), axis: Math.max("xyz".indexOf(store.get("cut.axis")), 0),
                              place: store.get("cut.place"), flip: store.get("cut.flip") });
        this.panel.showCut(this.theatre.cutPosition, this.run.reduced_units ? "" : " m");
    }

    private styleLook(): void {
        const { style } = this.theatre.stage;
        style.shade = this.store.get("look.shade");
        style.outline = this.store.get("look.outline");
        this.theatre.stage.invalidate();
    }

    private restyle(): void {
        this.picturing.restyle();
        this.charts.restyle();
        this.styleArrows();
    }

    /** Name and unit of forces, for legends. */
    get forceUnit(): string {
        return shownUnit(this.run.fields.contacts.find((f) => f.name === "force")?.unit ?? "");
    }

    get caption(): string {
        return `${this.run.title}, t = ${shortNumber(this.info?.time ?? 0, 6)}${this.timeUnit}`;
    }
}

export function messageOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}
