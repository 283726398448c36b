// The numbers of the picked grain: its row with all fields and units, and its contacts; a click on a
// partner picks that one.
import type { Frames } from "../data/frames";
import { plain, shortNumber, shownUnit } from "../data/fields";
import { splitForce } from "../data/forces";
import type { Field, Run } from "../data/run";
import { button, make } from "./dom";

const STATES = ["open", "sticks", "slides"];

interface GrainContact {
    partner: number;
    normal: number;
    tangential: number;
    state: string;
}

export class Inspector {
    readonly element = make("div", { id: "inspector" });
    private asked = 0;

    constructor(private readonly frames: Frames, private readonly onPick: (id: number | undefined) => void) {
        this.clear();
    }

    clear(): void {
        this.asked++;
        this.element.replaceChildren(make("p", { class: "note" }, "Click a grain to see its numbers and its contacts."));
    }

    /** Show a grain; `row` is -1 if it is not in this frame. */
    async show(run: Run, frame: number, id: number, row: number): Promise<void> {
        const asked = ++this.asked;
        const head = make("div", { class: "picked" }, make("b", {}, `grain ${id}`),
                          button("clear", "pick none (Escape)", () => this.onPick(undefined)));
        if (row < 0) {
            this.element.replaceChildren(head, make("p", { class: "note" }, "is not in this frame."));
            return;
        }
        const content: Node[] = [head, await this.numbers(run.fields.grains, frame, row)];
        if (run.frames[frame].contacts < 0) {
            content.push(make("p", { class: "note" }, "This run does not record contacts."));
        } else {
            content.push(this.contactTable(run, await this.contactsOf(run, frame, id)));
        }
        if (asked === this.asked) this.element.replaceChildren(...content);
    }

    private async numbers(fields: Field[], frame: number, row: number): Promise<HTMLElement> {
        const table = make("table", { class: "numbers" });
        const columns = await Promise.allSettled(fields.map((f) => this.frames.array(frame, "grains", f.name)));
        fields.forEach((field, i) => {
            const column = columns[i];
            const text = column.status === "rejected" ? ["not in this frame"]
                : Array.from(column.value.subarray(row * field.width, (row + 1) * field.width), (v) => shortNumber(v, 6));
            table.append(make("tr", { "data-field": field.name, title: field.description },
                make("th", {}, plain(field.name)), make("td", {}, text.join("  ")), make("td", { class: "unit" }, shownUnit(field.unit))));
        });
        return table;
    }

    private async contactsOf(run: Run, frame: number, id: number): Promise<GrainContact[]> {
        const names = ["a", "b", "force", "normal", "state"];
        const [a, b, force, normal, state] = await Promise.all(names.map((n) => this.frames.array(frame, "contacts", n)));
        const found: GrainContact[] = [];
        for (let row = 0; row < a.length; row++) {
            if (a[row] !== id && b[row] !== id) continue;
            const [fn, ft] = splitForce(force, normal, row, run.dim);
            if (fn === 0 && ft === 0) continue;
            found.push({ partner: a[row] === id ? b[row] : a[row], normal: fn, tangential: ft,
                         state: STATES[state[row]] ?? String(state[row]) });
        }
        return found.sort((p, q) => Math.abs(q.normal) - Math.abs(p.normal));
    }

    private contactTable(run: Run, contacts: GrainContact[]): HTMLElement {
        const unit = shownUnit(run.fields.contacts.find((f) => f.name === "force")?.unit ?? "");
        const suffix = unit ? ` (${unit})` : "";
        const table = make("table", { class: "contacts", id: "contacts-of-grain" },
            make("tr", {}, ...["with", `normal${suffix}`, `tangential${suffix}`, ""].map((t) => make("th", {}, t))));
        for (const c of contacts) {
            const wall = run.wall_names[-1 - c.partner] ?? `wall ${-1 - c.partner}`;
            const partner = c.partner < 0 ? make("span", {}, wall)
                : button(String(c.partner), `pick grain ${c.partner}`, () => this.onPick(c.partner));
            table.append(make("tr", {}, make("td", {}, partner), make("td", {}, shortNumber(c.normal)),
                              make("td", {}, shortNumber(c.tangential)), make("td", { class: "unit" }, c.state)));
        }
        const title = contacts.length === 0 ? "No contact carries a force."
            : `${contacts.length} contact${contacts.length === 1 ? "" : "s"} with a force`;
        return make("div", {}, make("p", { class: "note" }, title), ...(contacts.length ? [table] : []));
    }
}
