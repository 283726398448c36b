// Keys: the list that the page shows, and what they do. Whoever types into a field or holds a slider
// keeps its keys.
import type { App } from "../app";

interface KeyGroup { title: string; only?: 2 | 3; keys: [string, string][] }

export const KEYS: KeyGroup[] = [
    { title: "Time", keys: [["space", "play, pause"], ["← →", "frame before, next; with Shift ten"], ["Home End", "first, last frame"],
                            ["f", "follow a run that goes on"]] },
    { title: "What is shown", keys: [["g", "grains"], ["c", "forces"], ["v", "arrows"], ["n", "trails"], ["w", "walls"], ["k", "cut"],
                                     ["a", "soft shadows"], ["h", "charts"], ["p", "controls"]] },
    { title: "Camera", keys: [["r", "everything in sight"]] },
    { title: "Camera in space", only: 3, keys: [["1 2 3 0", "along x, y, z, a diagonal"], ["o", "perspective or parallel"]] },
    { title: "Grains", keys: [["click", "pick"], ["Ctrl click", "add to the selection"], ["Shift drag", "select by a box"], ["b", "draw a box"],
                              ["Escape", "pick and select none"]] },
    { title: "Mouse", only: 3, keys: [["drag", "turn"], ["right drag", "move"], ["wheel", "zoom"]] },
    { title: "Mouse", only: 2, keys: [["drag", "move"], ["wheel", "zoom"]] },
    { title: "Page", keys: [["s", "save a picture"], ["m", "pictures and movies"], ["l", "copy the address of this view"], ["t", "light or dark"],
                            ["?", "this list"]] },
];

export function listenToKeys(app: App): void {
    const { transport, panel, layout, store } = app;
    const actions: Record<string, (shift: boolean) => void> = {
        " ": () => transport.setPlaying(!transport.playing),
        ArrowLeft: (shift) => transport.step(shift ? -10 : -1),
        ArrowRight: (shift) => transport.step(shift ? 10 : 1),
        Home: () => transport.step(-Infinity),
        End: () => transport.step(Infinity),
        c: () => panel.toggle("forces.on"),
        g: () => panel.toggle("grains.on"),
        v: () => panel.toggle("arrows.on"),
        n: () => panel.toggle("trails.on"),
        w: () => panel.toggle("walls.on"),
        k: () => panel.toggle("cut.on"),
        a: () => panel.toggle("look.shade"),
        h: () => layout.toggleSheet("charts"),
        p: () => layout.toggleSheet("panel"),
        f: () => transport.setFollow(!transport.follow),
        r: () => app.fit(),
        "1": () => app.fit("x"),
        "2": () => app.fit("y"),
        "3": () => app.fit("z"),
        "0": () => app.fit("iso"),
        o: () => store.set("parallel", !store.get("parallel")),
        b: () => app.startBox(),
        s: () => app.exporting.savePicture(),
        m: () => app.exporting.open(),
        l: () => void layout.copyAddress(),
        t: () => layout.toggleTheme(),
        "?": () => layout.toggleHelp(),
        Escape: () => app.clear(),
    };
    window.addEventListener("keydown", (event) => {
        const action = actions[event.key];
        if (!action || event.ctrlKey || event.altKey || event.metaKey || keepsKeys(event)) return;
        event.preventDefault();
        action(event.shiftKey);
    });
}

function keepsKeys(event: KeyboardEvent): boolean {
    const { target, key } = event;
    if (target instanceof HTMLElement && target.closest("dialog")) return true;
    if (target instanceof HTMLSelectElement) return true;
    if (target instanceof HTMLButtonElement || target instanceof HTMLElement && target.tagName === "SUMMARY") return key === " ";
    if (!(target instanceof HTMLInputElement)) return false;
    if (target.type === "text") return true;
    if (target.type === "checkbox") return key === " ";
    // The time slider steps by the page's own keys; other sliders by theirs.
    return target.id !== "frame" && /^(Arrow|Home|End)/.test(key);
}
