// window.talusViewer: the page for scripts and tests. What is on the stage, in plain numbers, and the
// moves of a user as calls. Positions on the screen are CSS pixels from the top left of the page.
import type { App } from "./app";
import type { Range } from "./data/fields";
import type { View } from "./draw/stage";
import { colourOf } from "./draw/palette";

export interface TalusViewer {
    /** Frame, numbers of instances drawn, scale of colours, picked grain, charts, camera, notes. */
    state(): unknown;
    setFrame(frame: number): Promise<void>;
    pick(id: number | undefined): Promise<void>;
    setField(key: string): Promise<void>;
    setMap(name: string): void;
    /** Fix the scale of the grains' colours. */
    setRange(low: number, high: number): void;
    showContacts(on: boolean): Promise<void>;
    addChart(column: string): void;
    /** Look along x, y, z or a diagonal ("iso"), or fit the view from where the camera is. */
    look(view?: View): void;
    /** Where a grain is on the page, and the colour (sRGB bytes) that its number has. */
    screenOf(id: number): Promise<{ x: number; y: number; radius: number; colour: number[] } | undefined>;
    /** The picture that would be saved, as a data URL of a PNG. */
    picture(): string;
    /** Draw `count` views, turning about the vertical; seconds that took. */
    spin(count: number): number;
}

declare global {
    interface Window { talusViewer?: TalusViewer }
}

export function exposeApi(app: App): void {
    const { theatre, grainColouring, contactColouring, charts } = app;
    window.talusViewer = {
        state: () => ({
            title: app.run.title, dim: app.run.dim, frames: app.run.frames.length, running: app.run.running,
            frame: app.frame, time: app.run.frames[app.frame]?.time, drawn: theatre.counts,
            colour: grainColouring.state, contactColour: contactColouring.state, picked: app.picked,
            charts: charts.values, columns: charts.columns, camera: theatre.camera, atRest: theatre.stage.atRest,
            notes: app.layout.noteTexts, playing: app.transport.playing, requests: app.frames.requests,
        }),
        setFrame: (frame) => app.show(frame),
        pick: (id) => app.pick(id),
        setField: async (key) => {
            grainColouring.setField(key);
            await app.show(app.frame);
        },
        setMap: (name) => grainColouring.setMap(name),
        setRange: (low: number, high: number) => grainColouring.fix([low, high] as Range),
        showContacts: async (on) => {
            app.panel.toggle("contacts-visible", on);
            await app.show(app.frame);
        },
        addChart: (column) => charts.add(column),
        look: (view) => app.fit(view),
        screenOf: async (id) => {
            const ids = await app.frames.array(app.frame, "grains", "id");
            const row = ids.indexOf(id);
            const at = theatre.screenOfRow(row);
            if (!at) return undefined;
            const box = app.layout.canvas.getBoundingClientRect();
            const colour = colourOf(grainColouring.map, grainColouring.range, app.grainValues[row]);
            return { x: at.x + box.left, y: at.y + box.top, radius: at.radius, colour };
        },
        picture: () => app.picture().toDataURL("image/png"),
        spin: (count) => {
            const began = performance.now();
            for (let i = 0; i < count; i++) {
                theatre.stage.turn((2 * Math.PI) / count);
                theatre.stage.draw();
                theatre.stage.finish();
            }
            return (performance.now() - began) / 1000;
        },
    };
}
