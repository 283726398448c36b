// The picture as it is seen: grains from the stage, with legends, axes and ruler over them; on the
// page and on what is saved.
import type { App } from "../app";
import { ticksOf } from "../data/scale";
import { PULL, PUSH } from "../draw/bars";
import { colourOf } from "../draw/palette";
import type { View } from "../draw/stage";
import { cssColour } from "./dom";
import type { Studio } from "./exporting";
import { LEGEND_WIDTH, type ForceLegend, type LegendContent } from "./legend";
import { drawOverlay, legendScale, type Inks, type OverlayContent } from "./overlay";

const css = (c: number[]): string => `rgb(${c.map((x) => Math.round(255 * x)).join(", ")})`;

export class Picturing {
    constructor(private readonly app: App) {}

    private get inks(): Inks {
        return { ink: cssColour("--ink"), soft: cssColour("--soft"), paper: cssColour("--stage") };
    }

    /** `pixels`: height of the picture in which the height of the view is seen. */
    private content(pixels: number, caption: string): OverlayContent {
        const { app } = this;
        const { store, theatre, run } = app;
        const metres = theatre.stage.cameraState.height / pixels;
        const legends = [store.get("grains.on") ? app.grainColouring.legend : undefined,
                         store.get("forces.on") ? app.contactColouring.legend : undefined];
        return {
            legends: legends.filter((l): l is LegendContent => l !== undefined),
            forces: this.forceLegend(metres),
            axes: store.get("look.axes") ? theatre.stage.axes : undefined,
            ruler: store.get("look.ruler") ? { metres, unit: run.reduced_units ? "" : "m" } : undefined,
            caption,
        };
    }

    private forceLegend(metres: number): ForceLegend | undefined {
        const { forces, barWidth, contactColouring, forceUnit } = this.app;
        if (!forces) return undefined;
        const plain = !contactColouring.scalar;
        const colour = (force: number): string => plain ? css(PUSH)
            : contactColouring.scalar?.key === "normal force" ? css(colourOf(contactColouring.map, contactColouring.range, contactColouring.log, force).map((c) => c / 255))
            : cssColour("--soft");
        const values = ticksOf([forces.least, forces.least + 5 * forces.mean], false, 4).filter((f) => f > 0).slice(0, 3);
        return {
            unit: forceUnit, tension: forces.tension,
            samples: values.map((force) => ({ force, width: (2 * barWidth * force) / metres, colour: colour(force) })),
            colours: plain ? { push: css(PUSH), pull: css(PULL) } : undefined,
        };
    }

    /** What stands over the canvas of the page, and the ring about the picked grain. */
    draw(): void {
        const { layout, theatre, picked } = this.app;
        const { overlay, canvas } = layout;
        const scale = window.devicePixelRatio;
        const { clientWidth: width, clientHeight: height } = canvas;
        if (overlay.width !== Math.round(width * scale) || overlay.height !== Math.round(height * scale)) {
            overlay.width = Math.round(width * scale);
            overlay.height = Math.round(height * scale);
        }
        const pen = overlay.getContext("2d")!;
        pen.setTransform(scale, 0, 0, scale, 0, 0);
        pen.clearRect(0, 0, width, height);
        if (this.app.frame >= 0) drawOverlay(pen, width, height, this.content(height, ""), this.inks);
        layout.placeMarker(theatre.screenOfRow(picked === undefined ? -1 : this.app.rowOf(picked), true));
    }

    /** Everything in sight, beside the legends. */
    fit(view?: View): void {
        const { layout, theatre, store, grainColouring } = this.app;
        const { clientWidth: width, clientHeight: height } = layout.canvas;
        const legends = Number(store.get("grains.on") && grainColouring.scalar !== undefined) + (store.get("forces.on") ? 1 : 0);
        const room = Math.min(legends * LEGEND_WIDTH * legendScale(width, height) + 8, width / 3);
        const foot = store.get("look.axes") ? 66 : store.get("look.ruler") ? 44 : 20;
        theatre.stage.margins = { left: 24, right: Math.max(room, 24), top: 20, bottom: foot };
        theatre.fit(view);
    }

    restyle(): void {
        const { theatre } = this.app;
        theatre.stage.setBackground(cssColour("--stage"));
        theatre.walls.setInk(cssColour("--wall"));
    }

    /** What is seen as a picture of any size. Letters grow with it, from the height of the page's canvas on. */
    picture(width: number, height: number, bare: boolean): HTMLCanvasElement {
        const { layout, theatre } = this.app;
        const canvas = document.createElement("canvas");
        canvas.width = width;
        canvas.height = height;
        const pen = canvas.getContext("2d")!;
        pen.putImageData(theatre.stage.capture(width, height), 0, 0);
        if (bare) return canvas;
        const page = layout.canvas.clientWidth / layout.canvas.clientHeight;
        const scale = Math.max(height / Math.max(layout.canvas.clientHeight, 540), 0.6);
        // A picture that is narrower than the page shows more above and below.
        const seen = height * Math.min(width / height / page, 1);
        pen.scale(scale, scale);
        drawOverlay(pen, width / scale, height / scale, this.content(seen / scale, this.app.caption), this.inks);
        return canvas;
    }

    get studio(): Studio {
        const { app } = this;
        const { canvas } = app.layout;
        return {
            picture: (width, height, bare) => this.picture(width, height, bare),
            show: (frame) => app.show(frame),
            turn: (angle) => app.theatre.stage.turn(angle),
            frame: app.frame, frames: app.run.frames.length, dim: app.run.dim,
            size: { width: canvas.width, height: canvas.height }, largest: app.theatre.stage.largest,
        };
    }
}
