// A picture of what is seen, with legends and time, as a PNG file to download.
import type { Stage } from "../draw/stage";
import { LEGEND, type Legend } from "./legend";
import { make } from "./dom";

export function screenshot(stage: Stage, legends: Legend[], caption: string): HTMLCanvasElement {
    stage.settle();
    stage.draw(); // the drawing buffer is valid until the browser shows it
    const from = stage.renderer.domElement;
    const scale = from.width / from.clientWidth;
    const out = make("canvas");
    out.width = from.width;
    out.height = from.height;
    const pen = out.getContext("2d")!;
    pen.drawImage(from, 0, 0);
    pen.scale(scale, scale);
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--ink");
    pen.fillStyle = ink;
    pen.font = "13px system-ui, sans-serif";
    pen.fillText(caption, 14, 22);
    legends.filter((l) => !l.canvas.hidden).forEach((legend, i) => {
        pen.save();
        pen.translate(from.clientWidth - LEGEND.width * (i + 1), from.clientHeight - LEGEND.height - 12);
        legend.drawOn(pen, ink);
        pen.restore();
    });
    return out;
}

export function download(canvas: HTMLCanvasElement, name: string): void {
    canvas.toBlob((blob) => {
        if (!blob) return;
        const link = make("a", { href: URL.createObjectURL(blob), download: name });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }, "image/png");
}
