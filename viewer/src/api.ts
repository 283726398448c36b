// window.talusViewer: the page for scripts and tests. What is on the stage, in plain numbers, and the
// moves of a user as calls. Positions on the screen are CSS pixels from the top left of the page.
import type { App } from "./app";
import type { Range } from "./data/fields";
import { colourOf } from "./draw/palette";
import type { View } from "./draw/stage";
import { DEFAULTS, type Name } from "./settings";
import type { MovieFormat } from "./ui/movie";

export interface TalusViewer {
    /** Frame, numbers of instances drawn, scale of colours, picked and selected grains, charts, camera, notes. */
    state(): unknown;
    setFrame(frame: number): Promise<void>;
    /** Any setting by its name (settings.ts), as it stands in the address of the page. */
    set(name: string, value: string | number | boolean): Promise<void>;
    pick(id: number | undefined): Promise<void>;
    setField(key: string): Promise<void>;
    /** Fix the scale of the grains' colours. */
    setRange(low: number, high: number): void;
    addChart(column: string): void;
    /** Another curve into the chart of that number. */
    addCurve(chart: number, column: string): void;
    /** Look along x, y, z or a diagonal ("iso"), or fit the view from where the camera is. */
    look(view?: View): void;
    /** Where a grain is on the page, and the colour (sRGB bytes) that its number has. */
    screenOf(id: number): Promise<{ x: number; y: number; radius: number; colour: number[] } | undefined>;
    /** The picture that would be saved, as a data URL of a PNG; by default as large as on the screen. */
    picture(width?: number, height?: number, bare?: boolean): string;
    /** The movie that the dialog describes, as a data URL. */
    movie(format: MovieFormat): Promise<string>;
    /** Draw `count` views, turning about the vertical; seconds that took. */
    spin(count: number): number;
}

declare global {
    interface Window { talusViewer?: TalusViewer }
}

export function exposeApi(app: App): void {
    const { theatre, grainColouring, contactColouring, charts } = app;
    const { stage } = theatre;
    const settled = (): Promise<void> => app.show(app.frame);
    window.talusViewer = {
        state: () => ({
            title: app.run.title, dim: app.run.dim, frames: app.run.frames.length, running: app.run.running,
            frame: app.frame, time: app.info?.time, drawn: theatre.counts,
            colour: grainColouring.state, contactColour: contactColouring.state,
            legend: grainColouring.legend && { ...grainColouring.legend, map: undefined },
            picked: app.picked, selected: app.selection.chosen && [...app.selection.chosen],
            charts: charts.values, columns: charts.columns, camera: theatre.camera, atRest: stage.atRest,
            notes: app.layout.noteTexts, playing: app.transport.playing, requests: app.frames.requests,
            work: { ...stage.work, buffers: theatre.bytes }, address: app.store.address,
        }),
        setFrame: (frame) => app.goTo(frame),
        set: async (name, value) => {
            if (!(name in DEFAULTS)) throw new Error(`no setting '${name}'`);
            app.store.set(name as Name, value as never);
            await settled();
        },
        pick: async (id) => {
            app.pick(id);
            await settled();
        },
        setField: async (key) => {
            grainColouring.setField(key);
            await settled();
        },
        setRange: (low, high) => grainColouring.fix([low, high] as Range),
        addChart: (column) => charts.add(column),
        addCurve: (chart, column) => charts.addCurve(chart, column),
        look: (view) => app.fit(view),
        screenOf: async (id) => {
            const ids = await app.frames.array(app.frame, "grains", "id");
            const row = ids.indexOf(id);
            const at = theatre.screenOfRow(row);
            if (!at) return undefined;
            const box = app.layout.canvas.getBoundingClientRect();
            const colour = colourOf(grainColouring.map, grainColouring.range, grainColouring.log, app.grainValues[row]);
            return { x: at.x + box.left, y: at.y + box.top, radius: at.radius, colour };
        },
        picture: (width = app.layout.canvas.width, height = app.layout.canvas.height, bare = false) =>
            app.picturing.picture(width, height, bare).toDataURL("image/png"),
        movie: async (format) => {
            const movie = await app.exporting.makeMovie(format, () => {});
            return new Promise((done) => {
                const reader = new FileReader();
                reader.onload = () => done(reader.result as string);
                reader.readAsDataURL(movie);
            });
        },
        spin: (count) => {
            const began = performance.now();
            for (let i = 0; i < count; i++) {
                stage.turn((2 * Math.PI) / count);
                stage.draw();
                stage.finish();
            }
            return (performance.now() - began) / 1000;
        },
    };
}
