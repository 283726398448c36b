// Every choice of the user under one name, with what it is at the start. Controls are bound to these
// names, parts of the page listen to them, and those that differ from the start stand in the address
// of the page: whoever opens that address sees the same view.

export const DEFAULTS = {
    /** -1: the last one, and the newest of a run that is going on. */
    frame: -1,
    /** Place of the eye, of what it looks at, height of the picture; "": everything in sight. */
    camera: "",
    theme: "",
    parallel: false,

    "grains.on": true,
    "grains.size": 1,
    "grains.opacity": 1,
    "grains.marks": false,

    "colour.field": "",
    "colour.map": "auto",
    "colour.over": "frame",
    "colour.part": 98,
    "colour.log": false,
    "colour.symmetric": true,
    "colour.low": NaN,
    "colour.high": NaN,

    "forces.on": false,
    "forces.width": 0.45,
    "forces.least": 0,
    "forces.grains": "auto",
    "forces.field": "",
    "forces.map": "auto",
    "forces.over": "frame",
    "forces.part": 98,
    "forces.log": false,
    "forces.symmetric": true,
    "forces.low": NaN,
    "forces.high": NaN,

    "arrows.on": false,
    "arrows.field": "velocity",
    "arrows.length": 3,
    "arrows.colour": "plain",

    "trails.on": false,
    "trails.frames": 40,

    "select.where": "",
    "select.ids": "",
    "select.live": false,
    "select.others": "dim",
    "select.field": "",

    "walls.on": true,
    "walls.opacity": 0.16,
    "cell.on": true,
    images: 0,

    "cut.on": false,
    "cut.axis": "",
    "cut.place": 0.5,
    "cut.flip": false,

    "look.shade": true,
    "look.outline": true,
    "look.axes": true,
    "look.ruler": true,

    picked: -1,
    charts: "",
    "charts.on": true,
};

export type Settings = typeof DEFAULTS;
export type Name = keyof Settings;
/** Names of the settings that hold values of a type. */
export type NameOf<T> = { [K in Name]: Settings[K] extends T ? K : never }[Name];

export class Store {
    private readonly values: Settings = { ...DEFAULTS };
    private readonly listeners: { names: string[]; call: (name: Name) => void }[] = [];

    get<K extends Name>(name: K): Settings[K] {
        return this.values[name];
    }

    set<K extends Name>(name: K, value: Settings[K]): void {
        if (Object.is(this.values[name], value)) return;
        this.values[name] = value;
        for (const { names, call } of this.listeners) {
            if (names.some((n) => n === "*" || n === name || name.startsWith(`${n}.`))) call(name);
        }
    }

    /** Tell about changes of these settings; "forces" stands for all that begin so, "*" for all. */
    on(names: string[], call: (name: Name) => void): void {
        this.listeners.push({ names, call });
    }

    /** What differs from the start, as the part of an address behind #. */
    get address(): string {
        const words = new URLSearchParams();
        for (const name of Object.keys(DEFAULTS) as Name[]) {
            const value = this.values[name];
            if (!Object.is(value, DEFAULTS[name])) words.set(name, typeof value === "boolean" ? (value ? "1" : "0") : String(value));
        }
        return words.toString();
    }

    /** Take what an address says. Names and numbers that are none are passed over. */
    set address(text: string) {
        const words = new URLSearchParams(text.replace(/^#/, ""));
        for (const name of Object.keys(DEFAULTS) as Name[]) {
            const word = words.get(name);
            this.set(name, (word === null ? DEFAULTS[name] : read(word, DEFAULTS[name])) as never);
        }
    }
}

function read(word: string, like: unknown): unknown {
    if (typeof like === "boolean") return word === "1";
    if (typeof like === "string") return word;
    const number = Number(word);
    return word.trim() !== "" && Number.isFinite(number) ? number : like;
}

const WAIT = 250; // ms: an address that changes with every move of a slider is refused by browsers

/** Keep the address of the page true, and take over one that the user types. */
export function keepInAddress(store: Store): void {
    let timer = 0;
    store.on(["*"], () => {
        clearTimeout(timer);
        timer = window.setTimeout(() => {
            const words = store.address;
            history.replaceState(null, "", words ? `#${words}` : location.pathname + location.search);
        }, WAIT);
    });
    window.addEventListener("hashchange", () => { store.address = location.hash; });
}
