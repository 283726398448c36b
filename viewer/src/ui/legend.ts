// Legends: the scale of colours with round numbers beside it, and the widths of the force chains.
// Drawn with a pen, on the page and on saved pictures alike.
import { shortNumber, type Range } from "../data/fields";
import { placeOn, ticksOf } from "../data/scale";
import { tableOf, type ColourMap } from "../draw/palette";

export interface LegendContent {
    title: string;
    unit: string;
    map: ColourMap;
    range: Range;
    log: boolean;
    /** Whether there are numbers below and above the ends. */
    below: boolean;
    above: boolean;
    /** What the scale spans: "this frame, middle 98 %". */
    note: string;
}

/** A few forces with the width in pixels and the colour of their bars. */
export interface ForceLegend {
    unit: string;
    samples: { force: number; width: number; colour: string }[];
    /** Whether some contacts pull. */
    tension: boolean;
    colours: { push: string; pull: string } | undefined;
}

export const LEGEND_WIDTH = 132;
const BAR = { left: 12, width: 13, height: 150 };
const HEAD = 46; // above the bar: title, unit, note
const FONT = "system-ui, sans-serif";

export type Pen = CanvasRenderingContext2D;

function head(pen: Pen, ink: string, soft: string, lines: string[]): void {
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    lines.forEach((text, i) => {
        pen.font = i === 0 ? `600 12px ${FONT}` : `10.5px ${FONT}`;
        pen.fillStyle = i === 0 ? ink : soft;
        pen.fillText(text, BAR.left, 10 + 15 * i, LEGEND_WIDTH - BAR.left);
    });
}

/** Draws a legend with its corner at the pen's origin; returns its height. */
export function drawLegend(pen: Pen, content: LegendContent, ink: string, soft: string): number {
    const { title, unit, map, range, log, note } = content;
    head(pen, ink, soft, [unit ? `${title} (${unit})` : title, log ? `${note}, log.` : note]);
    pen.save();
    pen.translate(0, HEAD);
    const height = map.categories ? drawCategories(pen, map, range, ink) : drawBar(pen, content, ink);
    pen.restore();
    return HEAD + height + 10;
}

function drawBar(pen: Pen, { map, range, log, below, above }: LegendContent, ink: string): number {
    const table = tableOf(map);
    const colour = (i: number): string => `rgb(${table[4 * i]}, ${table[4 * i + 1]}, ${table[4 * i + 2]})`;
    const gradient = pen.createLinearGradient(0, BAR.height, 0, 0);
    for (let i = 0; i < 256; i += 5) gradient.addColorStop(i / 255, colour(i));
    pen.fillStyle = gradient;
    pen.fillRect(BAR.left, 0, BAR.width, BAR.height);
    // A tip where numbers lie beyond the end of the scale.
    const tip = (y: number, up: number, i: number): void => {
        pen.fillStyle = colour(i);
        pen.beginPath();
        pen.moveTo(BAR.left, y);
        pen.lineTo(BAR.left + BAR.width / 2, y - 9 * up);
        pen.lineTo(BAR.left + BAR.width, y);
        pen.fill();
    };
    if (above) tip(0.5, 1, 255);
    if (below) tip(BAR.height, -1, 0);
    pen.fillStyle = ink;
    pen.font = `11px ${FONT}`;
    for (const value of ticksOf(range, log, 6)) {
        const y = (1 - placeOn(range, log, value)) * BAR.height;
        pen.fillRect(BAR.left + BAR.width, y - 0.5, 4, 1);
        pen.fillText(shortNumber(value), BAR.left + BAR.width + 8, y);
    }
    return BAR.height + (below ? 9 : 0);
}

function drawCategories(pen: Pen, map: ColourMap, [low, high]: Range, ink: string): number {
    const count = map.stops.length;
    const shown = Math.min(Math.round(high) - Math.round(low) + 1, count);
    pen.font = `11px ${FONT}`;
    for (let i = 0; i < shown; i++) {
        const number = Math.round(low) + i;
        const [r, g, b] = map.stops[((number % count) + count) % count];
        pen.fillStyle = `rgb(${r}, ${g}, ${b})`;
        pen.fillRect(BAR.left, 19 * i, BAR.width, 13);
        pen.fillStyle = ink;
        const more = i === shown - 1 && high - low >= count ? ", …" : "";
        pen.fillText(`${number}${more}`, BAR.left + BAR.width + 8, 19 * i + 7);
    }
    return 19 * shown;
}

/** The widths of the bars, and what their two colours mean; returns the height. */
export function drawForces(pen: Pen, { unit, samples, tension, colours }: ForceLegend, ink: string, soft: string): number {
    head(pen, ink, soft, [unit ? `normal force (${unit})` : "normal force", "width of the bars"]);
    let y = HEAD - 6;
    pen.font = `11px ${FONT}`;
    for (const { force, width, colour } of samples) {
        const thick = Math.min(Math.max(width, 1), 26);
        y += Math.max(thick, 14) / 2;
        pen.fillStyle = colour;
        pen.fillRect(BAR.left, y - thick / 2, 30, thick);
        pen.fillStyle = ink;
        pen.fillText(shortNumber(force), BAR.left + 38, y);
        y += Math.max(thick, 14) / 2 + 4;
    }
    if (colours) {
        for (const [name, colour, shown] of [["compression", colours.push, true], ["tension", colours.pull, tension]] as const) {
            if (!shown) continue;
            y += 7;
            pen.fillStyle = colour;
            pen.beginPath();
            pen.arc(BAR.left + 5, y, 4.5, 0, 7);
            pen.fill();
            pen.fillStyle = ink;
            pen.fillText(name, BAR.left + 16, y);
            y += 10;
        }
    }
    return y + 6;
}
