// The dialog for pictures and movies: how large, what stands on them, which frames.
import { shortNumber } from "../data/fields";
import { button, download, line, make, select, setOptions } from "./dom";
import { makeMovie, movieFormats, type MovieFormat } from "./movie";

export interface Studio {
    /** What is seen, on a canvas of this size; `bare` without legends, axes and caption. */
    picture(width: number, height: number, bare: boolean): HTMLCanvasElement;
    show(frame: number): Promise<void>;
    /** Turn the camera about the vertical. */
    turn(angle: number): void;
    frame: number;
    frames: number;
    dim: 2 | 3;
    size: { width: number; height: number };
    largest: number;
}

const SIZES: [string, number, number][] = [["HD, 1280 × 720", 1280, 720], ["Full HD, 1920 × 1080", 1920, 1080],
    ["4K, 3840 × 2160", 3840, 2160], ["square, 1080 × 1080", 1080, 1080], ["print, 3000 × 2250", 3000, 2250]];
const LABELS: Record<MovieFormat, string> = { mp4: "movie (MP4)", webm: "movie (WebM)", zip: "pictures (PNG in a ZIP)" };

export class Exporting {
    readonly element = make("dialog", { class: "dialog", id: "export" });
    private readonly sizeMenu: HTMLSelectElement;
    private readonly width = numberField("export-width", "pixels");
    private readonly height = numberField("export-height", "pixels");
    private readonly bare = make("input", { type: "checkbox", id: "export-bare" });
    private readonly first = numberField("export-first", "first frame");
    private readonly last = numberField("export-last", "last frame");
    private readonly every = numberField("export-every", "every nth");
    private readonly rate = numberField("export-rate", "pictures a second");
    private readonly turns = numberField("export-turn", "degrees");
    private readonly format = select("export-format", [], "zip", () => {});
    private readonly said = make("p", { class: "note", id: "export-said", role: "status" });
    private readonly bar = make("progress", { hidden: "", max: "1", value: "0" });
    private readonly start = button("save the movie", "save the movie", () => void this.saveMovie());
    private busy = false;
    private stop = false;

    constructor(private readonly studio: () => Studio) {
        this.sizeMenu = select("export-size", [], "view", (value) => this.takeSize(value));
        for (const field of [this.width, this.height]) field.addEventListener("change", () => { this.sizeMenu.value = "other"; void this.offer(); });
        this.rate.value = "25";
        this.every.value = "1";
        this.turns.value = "0";
        const turn = line("turn by", this.turns, make("span", { class: "unit" }, "°"));
        turn.hidden = this.studio().dim === 2;
        this.start.classList.add("main");
        this.element.append(
            make("header", {}, make("b", {}, "Pictures and movies"), button("×", "close (Escape)", () => this.close())),
            line("size", this.sizeMenu), line("pixels", this.width, "×", this.height),
            make("label", { class: "check" }, this.bare, make("span", {}, "without legends, axes and caption")),
            make("div", { class: "buttons" }, button("save a picture", "save a picture (s)", () => this.savePicture())),
            make("hr"),
            line("frames", this.first, "to", this.last), line("every", this.every, make("span", { class: "unit" }, "frames")),
            line("speed", this.rate, make("span", { class: "unit" }, "pictures a second")), turn,
            line("as", this.format),
            make("div", { class: "buttons" }, this.start), this.bar, this.said);
        this.element.addEventListener("close", () => { this.stop = true; });
    }

    open(): void {
        const { size, frames } = this.studio();
        const options = [["view", `as on the screen, ${size.width} × ${size.height}`], ["double", `twice that, ${2 * size.width} × ${2 * size.height}`],
                         ...SIZES.map(([name], i) => [String(i), name]), ["other", "other"]];
        setOptions(this.sizeMenu, options.map(([value, label]) => ({ value, label })), this.sizeMenu.value || "view");
        this.takeSize(this.sizeMenu.value || "view");
        this.first.value ||= "0";
        this.last.value = String(frames - 1);
        this.said.textContent = "";
        this.element.showModal();
    }

    close(): void {
        this.element.close();
    }

    private takeSize(value: string): void {
        const { size } = this.studio();
        const preset = SIZES[Number(value)];
        if (value === "other") return;
        const factor = value === "double" ? 2 : 1;
        [this.width.value, this.height.value] = (preset ? preset.slice(1) : [factor * size.width, factor * size.height]).map(String);
        void this.offer();
    }

    /** Which formats there are depends on the size. Movies have even numbers of pixels. */
    private async offer(): Promise<void> {
        const [width, height] = this.evenSize();
        const formats = await movieFormats(width, height);
        const chosen = formats.includes(this.format.value as MovieFormat) && this.format.value !== "zip" ? this.format.value : formats[0];
        setOptions(this.format, formats.map((f) => ({ value: f, label: LABELS[f] })), chosen);
    }

    private get size(): [number, number] {
        const { largest } = this.studio();
        const pixels = (field: HTMLInputElement): number => Math.min(Math.max(Math.round(Number(field.value)) || 16, 16), largest);
        return [pixels(this.width), pixels(this.height)];
    }

    private evenSize(): [number, number] {
        return this.size.map((n) => 2 * Math.round(n / 2)) as [number, number];
    }

    savePicture(): void {
        const { frame } = this.studio();
        const [width, height] = this.element.open ? this.size : [this.studio().size.width, this.studio().size.height];
        const canvas = this.studio().picture(width, height, this.bare.checked);
        canvas.toBlob((blob) => blob && download(blob, `talus-${String(Math.max(frame, 0)).padStart(6, "0")}.png`), "image/png");
    }

    private async saveMovie(): Promise<void> {
        if (this.busy) {
            this.stop = true;
            return;
        }
        const format = this.format.value as MovieFormat;
        const began = performance.now();
        this.busy = true;
        this.stop = false;
        this.start.textContent = "stop here";
        this.bar.hidden = false;
        try {
            const movie = await this.makeMovie(format, (done, of) => {
                this.bar.value = done / of;
                const left = ((performance.now() - began) / 1000 / done) * (of - done);
                this.said.textContent = `picture ${done} of ${of}, ${shortNumber(left, 2)} s left`;
            });
            download(movie, `talus.${format}`);
            this.said.textContent = `Saved: ${shortNumber(movie.size / 1e6, 3)} MB.`;
        } catch (error) {
            this.said.textContent = `No movie: ${(error as Error).message}`;
        }
        this.busy = false;
        this.bar.hidden = true;
        this.start.textContent = "save the movie";
    }

    /** The movie that the fields of the dialog describe. */
    async makeMovie(format: MovieFormat, progress: (done: number, of: number) => void): Promise<Blob> {
        const studio = this.studio();
        const whole = (field: HTMLInputElement, low: number, high: number): number =>
            Math.min(Math.max(Math.round(Number(field.value)) || 0, low), high);
        const first = whole(this.first, 0, studio.frames - 1);
        const last = whole(this.last, first, studio.frames - 1);
        const every = whole(this.every, 1, studio.frames);
        const pictures = Math.floor((last - first) / every) + 1;
        const turn = ((Number(this.turns.value) || 0) * Math.PI) / 180 / pictures;
        const before = studio.frame;
        const [width, height] = this.evenSize();
        const movie = await makeMovie({
            format, width, height, rate: Math.min(Math.max(Number(this.rate.value) || 25, 1), 120), pictures,
            draw: async (i, canvas) => {
                await studio.show(first + i * every);
                canvas.getContext("2d")!.drawImage(studio.picture(width, height, this.bare.checked), 0, 0);
                studio.turn(turn);
            },
            progress: (done) => {
                progress(done, pictures);
                return !this.stop;
            },
        });
        studio.turn(-turn * pictures);
        await studio.show(before);
        return movie;
    }
}

function numberField(id: string, title: string): HTMLInputElement {
    return make("input", { id, type: "text", inputmode: "numeric", title, "aria-label": title });
}
