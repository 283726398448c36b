// Keys, as listed in the page's help. Whoever types into a field or holds a slider keeps its keys.
import type { App } from "../app";

export function listenToKeys(app: App): void {
    const { transport, panel, theatre } = app;
    const actions: Record<string, (shift: boolean) => void> = {
        " ": () => transport.setPlaying(!transport.playing),
        ArrowLeft: (shift) => transport.step(shift ? -10 : -1),
        ArrowRight: (shift) => transport.step(shift ? 10 : 1),
        Home: () => transport.step(-Infinity),
        End: () => transport.step(Infinity),
        c: () => panel.toggle("contacts-visible"),
        g: () => panel.toggle("grains-visible"),
        w: () => panel.toggle("walls-visible"),
        k: () => panel.toggle("cut-on"),
        f: () => transport.setFollow(!transport.follow),
        r: () => app.fit(),
        "1": () => app.fit("x"),
        "2": () => app.fit("y"),
        "3": () => app.fit("z"),
        "0": () => app.fit("iso"),
        o: () => theatre.stage.setPerspective(!theatre.stage.perspective),
        s: () => app.saveScreenshot(),
        t: () => app.layout.toggleTheme(),
        "?": () => app.layout.toggleHelp(),
        Escape: () => void app.pick(undefined),
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
    if (target instanceof HTMLSelectElement) return true;
    if (target instanceof HTMLButtonElement || target instanceof HTMLElement && target.tagName === "SUMMARY") return key === " ";
    if (!(target instanceof HTMLInputElement)) return false;
    if (target.type === "text") return true;
    if (target.type === "checkbox") return key === " ";
    // The time slider steps by the page's own keys; other sliders by theirs.
    return target.id !== "frame" && /^(Arrow|Home|End)/.test(key);
}
