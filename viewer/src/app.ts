// The page: shows one frame of a run at a time. Fetches only what is to be seen; when frames are asked
// for faster than they come, the newest wish counts.
import { Frames } from "./data/frames";
import { evaluate, rangeOf, scalarsOf, shortNumber, type Scalar } from "./data/fields";
import type { Run, Solid, Surface } from "./data/run";
import { nearest, parseSeries, type Series } from "./data/series";
import type { Numbers, Source } from "./data/source";
import { Theatre, type Chains } from "./draw/theatre";
import type { View } from "./draw/stage";
import { Charts } from "./ui/charts";
import { Colouring } from "./ui/colouring";
import { Exactness } from "./ui/exactness";
import { Inspector, splitForce } from "./ui/inspector";
import { Layout } from "./ui/layout";
import { Panel } from "./ui/panel";
import { download, screenshot } from "./ui/screenshot";
import { Transport } from "./ui/transport";

const AHEAD = 3; // frames fetched ahead while playing
const POLL = 1000; // ms between looks at a run that goes on
const POLL_ENDED = 2000; // ... at one that has ended, but may be resumed or done anew
const NORMAL_FORCE = "normal force";
const TANGENTIAL_FORCE = "tangential force";

export class App {
    readonly layout: Layout;
    readonly theatre: Theatre;
    readonly frames: Frames;
    readonly grainColouring: Colouring;
    readonly contactColouring: Colouring;
    readonly inspector: Inspector;
    readonly exactness: Exactness;
    readonly panel: Panel;
    readonly transport: Transport;
    readonly charts: Charts;
    frame = -1;
    picked: number | undefined;
    ids: Numbers | undefined;
    grainValues: Float32Array = new Float32Array(0);
    private series: Series = parseSeries("");
    private wish = 0;
    private plays = 0;
    private fitted = false;
    private readonly notes = new Map<string, string>();

    constructor(private readonly source: Source, public run: Run, shapes: Solid[]) {
        this.layout = new Layout(run, {
            view: (view) => this.theatre.fit(view),
            projection: () => this.theatre.stage.setPerspective(!this.theatre.stage.perspective),
            screenshot: () => this.saveScreenshot(),
            theme: () => this.restyle(),
        });
        this.frames = new Frames(source, run);
        this.theatre = new Theatre(this.layout.canvas, run.dim, run.frames.reduce((most, f) => Math.max(most, f.grains), 0), shapes);
        const { stage, grainColours, contactColours } = this.theatre;
        const redraw = (): void => stage.invalidate();
        this.grainColouring = new Colouring("grain", grainColours, undefined, () => void this.show(this.frame), redraw);
        this.contactColouring = new Colouring("contact", contactColours, "plain", () => void this.show(this.frame), redraw);
        this.inspector = new Inspector(this.frames, (id) => void this.pick(id));
        this.exactness = new Exactness((id) => void this.pick(id));
        this.panel = new Panel(run.dim, this.grainColouring, this.contactColouring, this.inspector, this.exactness, {
            grains: () => this.theatre.setGrainStyle(this.panel.choices.grains),
            contacts: () => void this.show(this.frame),
            walls: () => this.showWalls(),
            cut: () => this.showCut(),
        });
        this.transport = new Transport((frame) => void this.show(frame), (on) => on && void this.play());
        this.charts = new Charts((time) => this.showTime(time));
        this.layout.fill(this.panel.element, this.transport.element, this.charts.element,
                         [this.contactColouring.legend.canvas, this.grainColouring.legend.canvas]);
        stage.onDrawn = () => this.placeMarker();
        this.layout.onClick = (x, y) => void this.pickAt(x, y);
        this.restyle();
        this.applyRun();
    }

    /** Show the newest frame of a run that goes on, or the first of one that is over. */
    async start(): Promise<void> {
        await this.loadSeries();
        await this.show(this.run.running ? this.run.frames.length - 1 : 0);
        this.pollLater();
    }

    private pollLater(): void {
        if (!this.run.export) setTimeout(() => void this.poll(), this.run.running ? POLL : POLL_ENDED);
    }

    private applyRun(): void {
        const { run } = this;
        this.frames.update(run);
        this.layout.showRun(run);
        this.grainColouring.setScalars(scalarsOf(run.fields.grains), "velocity.|.|");
        const unit = run.fields.contacts.find((f) => f.name === "force")?.unit ?? "";
        const computed = [NORMAL_FORCE, TANGENTIAL_FORCE].map((name): Scalar => ({
            key: name, label: name, unit, description: name, field: "force", width: 1, component: 0 }));
        this.contactColouring.setScalars([...computed, ...scalarsOf(run.fields.contacts, ["segment"])], "");
        this.transport.show(this.frame, run.frames, run.running, run.reduced_units);
    }

    /** Say something about one matter, or (without text) take it back. */
    note(matter: string, text?: string): void {
        if (text) this.notes.set(matter, text);
        else this.notes.delete(matter);
        this.layout.showNotes([...this.notes.values()]);
    }

    // ---- frames ------------------------------------------------------------------------------

    /** Show a frame. Resolves when it is on the stage, or when another wish has overtaken it. */
    async show(frame: number): Promise<void> {
        const wish = ++this.wish;
        const info = this.run.frames[frame];
        this.note("frames", info ? undefined : "No frame has been recorded yet.");
        if (!info) return;
        this.transport.show(frame, this.run.frames, this.run.running, this.run.reduced_units);
        try {
            const scene = await this.load(frame);
            if (wish !== this.wish) return;
            this.note("load");
            this.frame = frame;
            this.put(scene, frame);
            await this.showPicked();
        } catch (error) {
            if (wish === this.wish) this.note("load", `Frame ${frame} cannot be shown. ${messageOf(error)}`);
        }
        this.charts.setTime(info.time);
        this.showExactness();
    }

    private showExactness(): void {
        this.exactness.show(this.series, this.run.frames[this.frame], this.run.reduced_units ? "" : " s");
    }

    showTime(time: number): void {
        const frame = nearest(this.run.frames.map((f) => f.time), time);
        if (frame >= 0 && frame !== this.frame) void this.show(frame);
    }

    private async load(frame: number): Promise<LoadedFrame> {
        const grains = (name: string): Promise<Numbers> => this.frames.array(frame, "grains", name);
        const optional = (name: string): Promise<Numbers | undefined> =>
            this.frames.field("grains", name) ? grains(name) : Promise.resolve(undefined);
        const solids = this.theatre.hasSolids;
        const [position, radius, rotation, solid, scale, values, surface, chains, ids] = await Promise.all([
            grains("position"), grains("radius"),
            solids || this.run.dim === 2 ? optional("rotation") : undefined,
            solids ? optional("solid") : undefined,
            solids ? optional("scale") : undefined,
            this.loadValues(frame),
            this.frames.surface(frame),
            this.loadChains(frame),
            this.picked === undefined ? undefined : optional("id"),
        ]);
        return { arrays: { position, radius, rotation, solid, scale }, values: values ?? new Float32Array(radius.length).fill(NaN),
                 surface, chains, ids };
    }

    /** Numbers to colour by; undefined, with a note, if this frame does not have them. */
    private async loadValues(frame: number): Promise<Float32Array | undefined> {
        const { scalar } = this.grainColouring;
        if (!scalar) return undefined;
        try {
            const values = evaluate(scalar, await this.frames.array(frame, "grains", scalar.field));
            this.note("field");
            return values;
        } catch (error) {
            this.note("field", `No colours: frame ${frame} has no field '${scalar.field}'. ${messageOf(error)}`);
            return undefined;
        }
    }

    private async loadChains(frame: number): Promise<Chains | undefined> {
        if (!this.panel.choices.contacts.visible || this.run.frames[frame].contacts < 0) return undefined;
        const get = (name: string): Promise<Numbers> => this.frames.array(frame, "contacts", name);
        const [segment, vector, normal] = await Promise.all([get("segment"), get("force"), get("normal")]);
        const force = new Float32Array(segment.length / 6);
        const tangential = new Float32Array(force.length);
        for (let row = 0; row < force.length; row++) {
            [force[row], tangential[row]] = splitForce(vector, normal, row, this.run.dim);
        }
        const { scalar } = this.contactColouring;
        const values = !scalar || scalar.key === NORMAL_FORCE ? force
            : scalar.key === TANGENTIAL_FORCE ? tangential : evaluate(scalar, await get(scalar.field));
        return { segment, force, values };
    }

    private put(scene: LoadedFrame, frame: number): void {
        const info = this.run.frames[frame];
        this.ids = scene.ids;
        this.grainValues = scene.values;
        this.theatre.setGrains(scene.arrays, scene.values);
        this.grainColouring.setValues(scene.values);
        this.theatre.setSurface(scene.surface, info);
        this.putChains(scene.chains);
        this.panel.setHasContacts(info.contacts >= 0);
        this.note("grains", info.grains === 0 ? "This frame has no grains." : undefined);
        this.showCut();
        if (!this.fitted && (info.grains > 0 || scene.surface.cells.length > 0)) {
            this.theatre.fit("iso");
            this.fitted = info.grains > 0; // once more when there are some
        }
        this.theatre.stage.invalidate();
    }

    private putChains(chains: Chains | undefined): void {
        this.theatre.setContacts(chains);
        this.contactColouring.setShown(chains !== undefined);
        if (!chains) return;
        const most = Math.max(...(rangeOf(chains.force)?.map(Math.abs) ?? [0])) || 1;
        this.theatre.bars.setWidth((this.panel.choices.contacts.width * this.theatre.meanRadius) / most);
        this.theatre.bars.setPlain(!this.contactColouring.scalar);
        this.contactColouring.setValues(chains.values);
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
        if (this.transport.playing && turn === this.plays) this.transport.setPlaying(false);
    }

    private nextFrame(): number | undefined {
        if (this.frame + 1 < this.run.frames.length) return this.frame + 1;
        return this.transport.repeat && this.run.frames.length > 1 ? 0 : undefined;
    }

    private prefetch(frame: number): void {
        if (frame < this.run.frames.length) this.load(frame).catch(() => {}); // said when it is shown
    }

    /** Look whether there are new frames. */
    private async poll(): Promise<void> {
        try {
            const run = await this.source.json<Run>("api/run.json");
            this.note("poll");
            const atEnd = this.frame >= this.run.frames.length - 1;
            const news = run.generation !== this.run.generation || run.running !== this.run.running;
            this.run = run;
            if (news) {
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
            this.charts.setSeries(this.series);
            this.showExactness();
            this.note("series");
        } catch (error) {
            this.note("series", `No charts. ${messageOf(error)}`);
        }
    }

    // ---- picking -----------------------------------------------------------------------------

    private async pickAt(x: number, y: number): Promise<void> {
        const row = this.theatre.pickAt(x, y);
        if (row < 0) return this.pick(undefined);
        const ids = await this.frames.array(this.frame, "grains", "id");
        return this.pick(ids[row]);
    }

    /** Pick a grain by its identity; it stays picked in other frames. */
    async pick(id: number | undefined): Promise<void> {
        this.picked = id;
        await this.showPicked();
        this.theatre.stage.invalidate();
    }

    private async showPicked(): Promise<void> {
        if (this.picked === undefined) {
            this.inspector.clear();
            return;
        }
        const { frame } = this;
        const ids = await this.frames.array(frame, "grains", "id");
        if (frame !== this.frame) return;
        this.ids = ids;
        await this.inspector.show(this.run, frame, this.picked, this.rowOf(this.picked));
    }

    rowOf(id: number): number {
        return this.ids ? this.ids.indexOf(id) : -1;
    }

    private placeMarker(): void {
        const row = this.picked === undefined ? -1 : this.rowOf(this.picked);
        this.layout.placeMarker(this.theatre.screenOfRow(row));
    }

    // ---- looks -------------------------------------------------------------------------------

    fit(view?: View): void {
        this.theatre.fit(view);
    }

    private showWalls(): void {
        this.theatre.walls.setVisible(this.panel.choices.walls, this.panel.choices.cell);
        this.theatre.stage.invalidate();
    }

    private showCut(): void {
        this.theatre.setCut(this.panel.choices.cut);
        this.panel.showCut(this.theatre.cutPosition, this.run.reduced_units ? "" : " m");
    }

    private restyle(): void {
        const style = getComputedStyle(document.documentElement);
        this.theatre.stage.setBackground(style.getPropertyValue("--stage").trim());
        this.charts.restyle();
        this.grainColouring.setMap(this.grainColouring.map.name); // draws the legend again
        this.contactColouring.setMap(this.contactColouring.map.name);
    }

    /** What is seen, with legends and a caption. */
    picture(): HTMLCanvasElement {
        const time = this.run.frames[this.frame]?.time ?? 0;
        const caption = `${this.run.title}, t = ${shortNumber(time, 6)}${this.run.reduced_units ? "" : " s"}`;
        return screenshot(this.theatre.stage, [this.grainColouring.legend, this.contactColouring.legend], caption);
    }

    saveScreenshot(): void {
        download(this.picture(), `talus-${String(Math.max(this.frame, 0)).padStart(6, "0")}.png`);
    }
}

interface LoadedFrame {
    arrays: { position: Numbers; radius: Numbers; rotation?: Numbers; solid?: Numbers; scale?: Numbers };
    values: Float32Array;
    surface: Surface;
    chains: Chains | undefined;
    ids: Numbers | undefined;
}

export function messageOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}
