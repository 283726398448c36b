// A movie of many pictures: encoded by the browser itself (WebCodecs), put into a file by mediabunny.
// Browsers without an encoder, and whoever wants to go on with the pictures, get them in a ZIP archive.
import { zipSync, type Zippable } from "fflate";
import { BufferTarget, CanvasSource, getFirstEncodableVideoCodec, Mp4OutputFormat, Output, WebMOutputFormat,
         type VideoCodec } from "mediabunny";

export type MovieFormat = "mp4" | "webm" | "zip";

const CODECS: Record<"mp4" | "webm", VideoCodec[]> = { mp4: ["avc", "hevc", "vp9", "av1"], webm: ["vp9", "vp8", "av1"] };
const BITS_PER_PIXEL = 0.18; // of a picture; grains have many edges

/** Formats that this browser can write pictures of this size in. */
export async function movieFormats(width: number, height: number): Promise<MovieFormat[]> {
    const able = async (format: "mp4" | "webm"): Promise<boolean> =>
        typeof VideoEncoder !== "undefined" && await getFirstEncodableVideoCodec(CODECS[format], { width, height }) !== null;
    const formats: MovieFormat[] = [];
    for (const format of ["mp4", "webm"] as const) if (await able(format)) formats.push(format);
    return [...formats, "zip"];
}

export interface MovieOrder {
    format: MovieFormat;
    width: number;
    height: number;
    /** Pictures a second. */
    rate: number;
    pictures: number;
    /** Draw picture `i` onto the canvas. */
    draw(i: number, canvas: HTMLCanvasElement): Promise<void>;
    /** Told after each picture; false ends the movie there. */
    progress(done: number): boolean;
}

export async function makeMovie(order: MovieOrder): Promise<Blob> {
    const canvas = document.createElement("canvas");
    canvas.width = order.width;
    canvas.height = order.height;
    return order.format === "zip" ? archive(order, canvas) : encode(order, order.format, canvas);
}

async function encode(order: MovieOrder, format: "mp4" | "webm", canvas: HTMLCanvasElement): Promise<Blob> {
    const { width, height, rate } = order;
    const codec = await getFirstEncodableVideoCodec(CODECS[format], { width, height });
    if (!codec) throw new Error(`This browser cannot write ${format} of ${width} × ${height} pixels.`);
    const target = new BufferTarget();
    const output = new Output({ format: format === "mp4" ? new Mp4OutputFormat({ fastStart: "in-memory" }) : new WebMOutputFormat(), target });
    const source = new CanvasSource(canvas, { codec, bitrate: Math.max(BITS_PER_PIXEL * width * height * rate, 1e6) });
    output.addVideoTrack(source, { frameRate: rate });
    await output.start();
    for (let i = 0; i < order.pictures; i++) {
        await order.draw(i, canvas);
        await source.add(i / rate, 1 / rate);
        if (!order.progress(i + 1)) break;
    }
    await output.finalize();
    return new Blob([target.buffer!], { type: format === "mp4" ? "video/mp4" : "video/webm" });
}

async function archive(order: MovieOrder, canvas: HTMLCanvasElement): Promise<Blob> {
    const files: Zippable = {};
    for (let i = 0; i < order.pictures; i++) {
        await order.draw(i, canvas);
        const picture = await new Promise<Blob>((done, fail) =>
            canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("the picture is too large"))), "image/png"));
        // PNG is compressed already.
        files[`talus-${String(i).padStart(6, "0")}.png`] = [new Uint8Array(await picture.arrayBuffer()), { level: 0 }];
        if (!order.progress(i + 1)) break;
    }
    return new Blob([zipSync(files) as Uint8Array<ArrayBuffer>], { type: "application/zip" });
}
