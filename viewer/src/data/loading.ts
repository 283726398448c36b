// What a frame is shown with, fetched: only the fields that are to be seen.
import type { Frames } from "./frames";
import { evaluate, scalarsOf, type Scalar } from "./fields";
import { loadsOf, splitForce } from "./forces";
import type { Run, Surface } from "./run";
import type { Numbers } from "./source";

/** Fields that are not recorded but follow from the contacts. */
export const LOAD = "load";
export const NORMAL_FORCE = "normal force";
export const TANGENTIAL_FORCE = "tangential force";

/** What to fetch beside places and radii. */
export interface Wanted {
    colour: Scalar | undefined;
    /** Contacts, coloured by this field; undefined: none. */
    contacts: { colour: Scalar | undefined } | undefined;
    ids: boolean;
    /** A vector field for arrows, "": none. */
    arrows: string;
    shapes: boolean;
}

export interface LoadedFrame {
    arrays: { position: Numbers; radius: Numbers; rotation?: Numbers; solid?: Numbers; scale?: Numbers };
    /** Numbers to colour by; undefined: this frame does not have them. */
    values: Float32Array | undefined;
    missing: string | undefined;
    surface: Surface;
    chains: { segment: Numbers; force: Float32Array; values: Float32Array } | undefined;
    ids: Numbers | undefined;
    arrows: Numbers | undefined;
}

export class Loading {
    constructor(private readonly frames: Frames, private run: Run) {}

    update(run: Run): void {
        this.run = run;
    }

    private computed(name: string, description: string): Scalar {
        const unit = this.run.fields.contacts.find((f) => f.name === "force")?.unit ?? "";
        return { key: name, label: name, unit, description, field: name, width: 1, component: 0, whole: false };
    }

    /** Fields that grains can be coloured by. */
    get grainScalars(): Scalar[] {
        const loads = this.run.frames.some((f) => f.contacts >= 0)
            ? [{ ...this.computed(LOAD, "sum of the normal forces on the grain"), wide: true }] : [];
        return [...scalarsOf(this.run.fields.grains), ...loads];
    }

    get contactScalars(): Scalar[] {
        return [this.computed(NORMAL_FORCE, "along the normal, positive if the bodies push each other apart"),
                this.computed(TANGENTIAL_FORCE, "size of the force across the normal"),
                ...scalarsOf(this.run.fields.contacts, ["segment"])];
    }

    private grains(frame: number, name: string): Promise<Numbers> {
        return this.frames.array(frame, "grains", name);
    }

    private contacts(frame: number, names: string[]): Promise<Numbers[]> {
        return Promise.all(names.map((name) => this.frames.array(frame, "contacts", name)));
    }

    /** The numbers of a field of the grains. */
    async values(frame: number, scalar: Scalar): Promise<Float32Array> {
        if (scalar.field !== LOAD) return evaluate(scalar, await this.grains(frame, scalar.field));
        if (this.run.frames[frame].contacts < 0) throw new Error("Its contacts are not recorded.");
        const [id, [a, b, force, normal]] = await Promise.all([
            this.grains(frame, "id"), this.contacts(frame, ["a", "b", "force", "normal"])]);
        return loadsOf(id, a, b, force, normal, this.run.dim);
    }

    async load(frame: number, wanted: Wanted): Promise<LoadedFrame> {
        const optional = (name: string, need: boolean): Promise<Numbers | undefined> =>
            need && this.frames.field("grains", name) ? this.grains(frame, name) : Promise.resolve(undefined);
        let missing: string | undefined;
        const values = wanted.colour && this.values(frame, wanted.colour).catch((error: Error) => {
            missing = error.message;
            return undefined;
        });
        const [position, radius, rotation, solid, scale, numbers, surface, chains, ids, arrows] = await Promise.all([
            this.grains(frame, "position"), this.grains(frame, "radius"),
            optional("rotation", wanted.shapes || this.run.dim === 2),
            optional("solid", wanted.shapes), optional("scale", wanted.shapes),
            values, this.frames.surface(frame), this.loadChains(frame, wanted.contacts), optional("id", wanted.ids),
            wanted.arrows ? optional(wanted.arrows, true) : undefined,
        ]);
        return { arrays: { position, radius, rotation, solid, scale }, values: numbers, missing, surface, chains, ids, arrows };
    }

    private async loadChains(frame: number, wanted: Wanted["contacts"]): Promise<LoadedFrame["chains"]> {
        if (!wanted || this.run.frames[frame].contacts < 0) return undefined;
        const [segment, vector, normal] = await this.contacts(frame, ["segment", "force", "normal"]);
        const force = new Float32Array(segment.length / 6);
        const tangential = new Float32Array(force.length);
        for (let row = 0; row < force.length; row++) {
            [force[row], tangential[row]] = splitForce(vector, normal, row, this.run.dim);
        }
        const { colour } = wanted;
        const values = !colour || colour.field === NORMAL_FORCE ? force
            : colour.field === TANGENTIAL_FORCE ? tangential
            : evaluate(colour, await this.frames.array(frame, "contacts", colour.field));
        return { segment, force, values };
    }
}
