// Time: slider, steps, play and its speed, follow. Knows numbers of frames only, not what is in them.
import type { FrameInfo } from "../data/run";
import { shortNumber } from "../data/fields";
import { button, checkbox, make, select } from "./dom";
import { icon } from "./icons";

const SPEEDS = [1, 2, 5, 10, 25, 50];

export class Transport {
    readonly element: HTMLElement;
    speed = 10; // frames per second
    repeat = false;
    follow = true;
    playing = false;
    private readonly slider: HTMLInputElement;
    private readonly playButton: HTMLButtonElement;
    private readonly label = make("output", { class: "time", id: "time" });
    private readonly followBox: HTMLLabelElement;

    constructor(private readonly onFrame: (frame: number) => void, private readonly onPlay: (on: boolean) => void) {
        this.slider = make("input", { id: "frame", type: "range", min: "0", max: "0", step: "1", "aria-label": "frame" });
        this.slider.addEventListener("input", () => onFrame(this.slider.valueAsNumber));
        this.playButton = button(icon("play"), "play or pause (space)", () => this.setPlaying(!this.playing));
        this.playButton.classList.add("main");
        this.playButton.id = "play";
        this.followBox = checkbox("follow", "follow", this.follow, (on) => {
            this.follow = on;
            if (on) this.step(Infinity);
        });
        this.followBox.title = "move on to the newest frame while the run goes on (f)";
        const repeat = button(icon("repeat"), "begin again at the end", () => {
            this.repeat = !this.repeat;
            repeat.classList.toggle("on", this.repeat);
        });
        const speeds = SPEEDS.map((s) => ({ value: String(s), label: `${s}/s` }));
        const speed = select("speed", speeds, String(this.speed), (s) => { this.speed = Number(s); });
        speed.title = "frames a second";
        this.element = make("div", { class: "transport" },
            make("div", { class: "steps" },
                button(icon("first"), "first frame (Home)", () => this.step(-Infinity)),
                button(icon("back"), "frame before (←)", () => this.step(-1)),
                this.playButton,
                button(icon("next"), "next frame (→)", () => this.step(1)),
                button(icon("last"), "last frame (End)", () => this.step(Infinity))),
            this.slider, this.label,
            make("div", { class: "steps" }, speed, repeat, this.followBox));
    }

    /** Go some frames on or back, as far as there are any. */
    step(by: number): void {
        const last = Number(this.slider.max);
        const to = Math.min(Math.max(this.slider.valueAsNumber + by, 0), last);
        if (to !== this.slider.valueAsNumber) this.onFrame(to);
    }

    setPlaying(on: boolean): void {
        this.playing = on;
        this.playButton.replaceChildren(icon(on ? "pause" : "play"));
        this.onPlay(on);
    }

    setFollow(on: boolean): void {
        this.follow = on;
        (this.followBox.firstChild as HTMLInputElement).checked = on;
        if (on) this.step(Infinity);
    }

    show(frame: number, frames: FrameInfo[], running: boolean, reduced: boolean): void {
        this.slider.max = String(Math.max(frames.length - 1, 0));
        this.slider.value = String(frame);
        this.slider.disabled = frames.length < 2;
        this.followBox.hidden = !running;
        const info = frames[frame];
        const unit = reduced ? "" : " s";
        this.label.replaceChildren(...(info
            ? [make("b", {}, `t = ${shortNumber(info.time, 6)}${unit}`),
               make("span", {}, `frame ${frame} of 0…${frames.length - 1}`), make("span", { class: "step" }, `step ${info.step}`)]
            : ["no frames"]));
    }
}
