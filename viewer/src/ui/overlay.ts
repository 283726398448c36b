// What stands on the picture beside the grains: legends, the axes, a ruler, the caption. The page
// draws it over its canvas, saved pictures have it drawn into them.
import type { Vector3 } from "three";
import { lengthText, ticksOf } from "../data/scale";
import { drawForces, drawLegend, LEGEND_WIDTH, type ForceLegend, type LegendContent, type Pen } from "./legend";

export interface OverlayContent {
    legends: LegendContent[];
    forces: ForceLegend | undefined;
    /** Right, up and towards the eye in the coordinates of the run; undefined: no axes. */
    axes: { right: Vector3; up: Vector3; direction: Vector3 } | undefined;
    /** Metres in a pixel (at the middle, in perspective), and their unit; undefined: no ruler. */
    ruler: { metres: number; unit: string } | undefined;
    caption: string;
}

export interface Inks { ink: string; soft: string; paper: string }

const COLOURS = ["#d4452f", "#3d9a4a", "#3f74d1"];
const FONT = "system-ui, sans-serif";

export function drawOverlay(pen: Pen, width: number, height: number, content: OverlayContent, inks: Inks): void {
    pen.save();
    drawLegends(pen, width, height, content, inks);
    if (content.axes) drawAxes(pen, 40, height - 34, content.axes, inks);
    if (content.ruler) drawRuler(pen, content.axes ? 90 : 16, height - 18, width, content.ruler, inks);
    if (content.caption) {
        pen.font = `13px ${FONT}`;
        pen.fillStyle = inks.ink;
        pen.textBaseline = "alphabetic";
        pen.textAlign = "left";
        pen.fillText(content.caption, 16, 26);
    }
    pen.restore();
}

/** From the right edge inwards, their feet at the bottom. Small pictures have small ones. */
function drawLegends(pen: Pen, width: number, height: number, { legends, forces }: OverlayContent, { ink, soft, paper }: Inks): void {
    const drawers = [...legends.map((l) => (p: Pen) => drawLegend(p, l, ink, soft)),
                     ...(forces ? [(p: Pen) => drawForces(p, forces, ink, soft)] : [])];
    const scale = legendScale(width, height);
    drawers.forEach((draw, i) => {
        // How high it is, drawn where nobody sees it.
        pen.save();
        pen.translate(-1e4, 0);
        const tall = draw(pen);
        pen.restore();
        pen.save();
        pen.translate(width - 8 - LEGEND_WIDTH * scale * (i + 1), height - 10 - tall * scale);
        pen.scale(scale, scale);
        pen.globalAlpha = 0.72;
        pen.fillStyle = paper;
        pen.beginPath();
        pen.roundRect(2, -4, LEGEND_WIDTH - 4, tall + 6, 8);
        pen.fill();
        pen.globalAlpha = 1;
        draw(pen);
        pen.restore();
    });
}

export function legendScale(width: number, height: number): number {
    return width < 560 || height < 360 ? 0.8 : 1;
}

function drawAxes(pen: Pen, x: number, y: number, axes: NonNullable<OverlayContent["axes"]>, { ink }: Inks): void {
    const components = (v: Vector3): number[] => v.toArray();
    const [right, up, eye] = [components(axes.right), components(axes.up), components(axes.direction)];
    const order = [0, 1, 2].sort((i, j) => eye[i] - eye[j]); // the farthest first
    pen.lineWidth = 2;
    pen.lineCap = "round";
    pen.font = `600 11px ${FONT}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const k of order) {
        const [dx, dy] = [right[k], -up[k]];
        if (Math.hypot(dx, dy) < 0.08) continue; // along the line of sight
        pen.strokeStyle = pen.fillStyle = COLOURS[k];
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(x + 20 * dx, y + 20 * dy);
        pen.stroke();
        pen.fillStyle = ink;
        pen.fillText("xyz"[k], x + 29 * dx, y + 29 * dy);
    }
}

function drawRuler(pen: Pen, x: number, y: number, width: number, { metres, unit }: { metres: number; unit: string }, { ink }: Inks): void {
    const room = Math.min(150, 0.3 * width) * metres;
    const length = ticksOf([0, room], false, 2).filter((t) => t > 0 && t <= room).at(-1);
    if (!length || !Number.isFinite(length)) return;
    const pixels = length / metres;
    pen.fillStyle = ink;
    pen.fillRect(x, y, pixels, 2);
    pen.fillRect(x, y - 4, 1.5, 8);
    pen.fillRect(x + pixels - 1.5, y - 4, 1.5, 8);
    pen.font = `11px ${FONT}`;
    pen.textAlign = "center";
    pen.textBaseline = "alphabetic";
    pen.fillText(lengthText(length, unit), x + pixels / 2, y - 7);
}
