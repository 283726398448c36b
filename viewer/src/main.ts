// Start: find the data, build the page, show the first frame. Whatever goes wrong is said on the page.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { exposeApi } from "./api";
import { App, messageOf } from "./app";
import type { Run, Solid } from "./data/run";
import { DataError, openSource } from "./data/source";
import { keepInAddress, Store } from "./settings";
import { make } from "./ui/dom";
import { listenToKeys } from "./ui/keys";

const RETRY = 1000; // ms

async function start(): Promise<void> {
    const source = openSource();
    const [run, shapes] = await Promise.all([source.json<Run>("api/run.json"), source.json<Solid[]>("api/shapes.json")]);
    const store = new Store();
    store.address = location.hash;
    const app = new App(source, run, shapes, store);
    keepInAddress(store);
    listenToKeys(app);
    exposeApi(app);
    await app.start();
}

/** A run that has just begun has no frames yet, and files may come back: then look again. */
function fail(error: unknown): void {
    const passing = error instanceof DataError && error.passing;
    const gl = document.createElement("canvas").getContext("webgl2");
    const why = gl ? messageOf(error) : "This browser has no WebGL 2, without which nothing can be drawn.";
    document.body.replaceChildren(make("div", { class: "failure", role: "alert" },
        make("h1", {}, "The run cannot be shown"), make("p", {}, why),
        ...(passing ? [make("p", {}, "The page will show it as soon as it can.")] : [])));
    if (passing) setTimeout(begin, RETRY);
    else console.error(error);
}

function begin(): void {
    start().catch(fail);
}

begin();
