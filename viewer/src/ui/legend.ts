// The legend of a colour scale: name and unit, a bar, and numbers beside it. Drawn on a canvas, so
// that screenshots have it, too.
import { shortNumber, type Range, type Scalar } from "../data/fields";
import { tableOf, type ColourMap } from "../draw/palette";
import { make } from "./dom";

export interface LegendContent {
    scalar: Scalar;
    map: ColourMap;
    range: Range;
    fixed: boolean;
}

export const LEGEND = { width: 168, height: 214 };
const BAR = { left: 14, top: 40, width: 16, height: 160 };

export class Legend {
    readonly canvas = make("canvas", { class: "legend", "aria-label": "colour scale" });
    private content: LegendContent | undefined;

    show(content: LegendContent | undefined): void {
        this.content = content;
        this.canvas.hidden = !content;
        const scale = window.devicePixelRatio;
        this.canvas.width = LEGEND.width * scale;
        this.canvas.height = LEGEND.height * scale;
        const pen = this.canvas.getContext("2d");
        if (!pen || !content) return;
        pen.scale(scale, scale);
        this.drawOn(pen, getComputedStyle(document.documentElement).getPropertyValue("--ink") || "#222");
    }

    /** Draw it with its corner at the pen's origin; nothing if there is nothing to show. */
    drawOn(pen: CanvasRenderingContext2D, ink: string): void {
        const { content } = this;
        if (!content) return;
        pen.fillStyle = ink;
        pen.textBaseline = "middle";
        pen.font = "600 12px system-ui, sans-serif";
        pen.fillText(content.scalar.label, BAR.left, 12, LEGEND.width - BAR.left);
        pen.font = "11px system-ui, sans-serif";
        const notes = [content.scalar.unit, content.fixed ? "fixed scale" : ""].filter(Boolean).join(", ");
        pen.fillText(notes, BAR.left, 27, LEGEND.width - BAR.left);
        if (content.map.categories) this.drawCategories(pen, content, ink);
        else this.drawBar(pen, content, ink);
    }

    private drawBar(pen: CanvasRenderingContext2D, { map, range: [low, high] }: LegendContent, ink: string): void {
        const table = tableOf(map);
        for (let y = 0; y < BAR.height; y++) {
            const i = 4 * Math.round((255 * (BAR.height - 1 - y)) / (BAR.height - 1));
            pen.fillStyle = `rgb(${table[i]}, ${table[i + 1]}, ${table[i + 2]})`;
            pen.fillRect(BAR.left, BAR.top + y, BAR.width, 1.5);
        }
        pen.fillStyle = ink;
        const marks = high > low ? [0, 0.25, 0.5, 0.75, 1] : [0.5];
        for (const part of marks) {
            const y = BAR.top + (1 - part) * BAR.height;
            pen.fillRect(BAR.left + BAR.width, y - 0.5, 4, 1);
            pen.fillText(shortNumber(low + part * (high - low)), BAR.left + BAR.width + 8, y);
        }
    }

    private drawCategories(pen: CanvasRenderingContext2D, { map, range: [low, high] }: LegendContent, ink: string): void {
        const count = map.stops.length;
        const shown = Math.min(Math.round(high) - Math.round(low) + 1, count);
        for (let i = 0; i < shown; i++) {
            const number = Math.round(low) + i;
            const [r, g, b] = map.stops[((number % count) + count) % count];
            const y = BAR.top + 20 * i;
            pen.fillStyle = `rgb(${r}, ${g}, ${b})`;
            pen.fillRect(BAR.left, y, BAR.width, 14);
            pen.fillStyle = ink;
            const more = i === shown - 1 && high - low >= count ? ", …" : "";
            pen.fillText(`${number}${more}`, BAR.left + BAR.width + 8, y + 7);
        }
    }
}
