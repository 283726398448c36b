// Everything that is drawn of a frame, and how: grains, contacts, walls, cell, the cut. The app says
// what to show in terms of the run; the theatre puts it on the stage.
import { Box3, Plane, Vector3, Vector4 } from "three";
import type { FrameInfo, Solid, Surface } from "../data/run";
import type { Numbers } from "../data/source";
import { Balls } from "./balls";
import { Bars } from "./bars";
import { Colours, Cut } from "./look";
import { ballsOf, boundsOf, gather, makePacking, solidsOf, type GrainArrays, type Packing } from "./packing";
import { Picker } from "./picking";
import { Solids } from "./solids";
import { Stage, type View } from "./stage";
import { Walls } from "./walls";

export interface CutChoice {
    on: boolean;
    axis: 0 | 1 | 2;
    /** 0 to 1, along the axis through all that is there. */
    place: number;
    flip: boolean;
}

/** Contacts with a force: [n][6] ends, [n] normal forces, [n] numbers to colour by. */
export interface Chains {
    segment: Numbers;
    force: Float32Array;
    values: Float32Array;
}

const NEAR = 0.35; // of the extent of the grains: how far off walls may be to be fitted into the view

export class Theatre {
    readonly stage: Stage;
    readonly grainColours = new Colours();
    readonly contactColours = new Colours();
    readonly bars: Bars;
    readonly walls: Walls;
    private readonly balls: Balls;
    private readonly solids: Solids;
    private readonly cut = new Cut();
    private readonly picker: Picker;
    private readonly origin = new Vector3();
    private packing: Packing | undefined;
    private grainBounds = new Box3();
    private wallBounds = new Box3();
    private cutChoice: CutChoice = { on: false, axis: 1, place: 0.5, flip: false };
    private grainsVisible = true;
    private size = 1;

    constructor(canvas: HTMLCanvasElement, dim: 2 | 3, grains: number, private readonly shapes: Solid[]) {
        this.stage = new Stage(canvas, dim, grains);
        this.balls = new Balls(dim, this.grainColours, this.cut);
        this.solids = new Solids(shapes, dim, this.grainColours, this.cut);
        this.bars = new Bars(dim, this.contactColours, this.cut);
        this.walls = new Walls(dim);
        this.picker = new Picker(shapes, dim);
        this.stage.scene.add(this.balls.mesh, this.solids.group, this.bars.mesh, this.walls.group);
    }

    /** The first grains decide where the origin of the scene is: single precision suffices near it. */
    setGrains(arrays: GrainArrays, values: Float32Array): void {
        const { dim } = this.stage;
        if (!this.packing) {
            for (let k = 0; k < dim; k++) {
                const x = arrays.position[k] ?? 0;
                this.origin.setComponent(k, Number.isFinite(x) ? x : 0);
            }
        }
        const packing = makePacking(arrays, dim, this.shapes.length, this.origin);
        this.packing = packing;
        this.balls.setRows(ballsOf(packing), gather(values, packing.ballRows, 1));
        this.shapes.forEach((_, s) =>
            this.solids.setRows(s, solidsOf(packing, s), gather(values, packing.solidRows[s], 1)));
        this.grainBounds = boundsOf(packing);
        this.updateBounds();
    }

    setSurface(surface: Surface, info: FrameInfo): void {
        this.walls.setSurface(surface, this.origin);
        this.wallBounds = new Box3();
        for (let i = 0; i + 2 < surface.points.length; i += 3) {
            this.wallBounds.expandByPoint(new Vector3().fromArray(surface.points, i).sub(this.origin));
        }
        const { min, max } = this.extent;
        this.walls.setCell(info, min.clone().add(this.origin), max.clone().add(this.origin), this.origin);
        this.updateBounds();
    }

    setContacts(chains: Chains | undefined): void {
        if (!chains) {
            this.bars.hide();
        } else {
            const rows = Int32Array.from(chains.force.keys()).filter((i) => chains.force[i] !== 0);
            const end = (which: number): Float32Array => {
                const out = new Float32Array(3 * rows.length);
                rows.forEach((row, i) => {
                    for (let k = 0; k < 3; k++) {
                        out[3 * i + k] = chains.segment[6 * row + 3 * which + k] - this.origin.getComponent(k);
                    }
                });
                return out;
            };
            this.bars.setRows({ count: rows.length, start: end(0), end: end(1), force: gather(chains.force, rows, 1) },
                              gather(chains.values, rows, 1));
        }
        this.stage.invalidate();
    }

    private updateBounds(): void {
        this.stage.setBounds(this.bounds);
        this.setCut(this.cutChoice);
    }

    /** The box about grains and walls, relative to the origin. */
    get bounds(): Box3 {
        return this.grainBounds.clone().union(this.wallBounds);
    }

    /** The box about the grains; about the walls if there are none. */
    private get extent(): Box3 {
        const box = this.grainBounds.isEmpty() ? this.wallBounds : this.grainBounds;
        return box.isEmpty() ? new Box3(new Vector3(), new Vector3()) : box;
    }

    /** Grains, and the walls as far as they are near. */
    fit(view?: View): void {
        const box = this.grainBounds.clone();
        const size = box.getSize(new Vector3());
        const near = box.clone().expandByScalar(NEAR * Math.max(size.x, size.y, size.z));
        this.stage.fit(box.isEmpty() ? this.bounds : box.union(this.wallBounds.clone().intersect(near)), view);
    }

    /** Where the cut is, in the run's coordinates. */
    get cutPosition(): number {
        const { axis, place } = this.cutChoice;
        const { min, max } = this.extent;
        return min.getComponent(axis) + place * (max.getComponent(axis) - min.getComponent(axis))
            + this.origin.getComponent(axis);
    }

    /** What lies beyond the plane is not drawn: grains and contacts by their centres, walls exactly. */
    setCut(choice: CutChoice): void {
        this.cutChoice = choice;
        if (!choice.on || this.bounds.isEmpty()) {
            this.cut.set(undefined);
            this.walls.setClipping([]);
        } else {
            // The half that goes is the one towards the standard views: +x, -y, +z.
            const sign = (choice.axis === 1) === choice.flip ? 1 : -1;
            const n = new Vector3().setComponent(choice.axis, sign);
            const d = -sign * (this.cutPosition - this.origin.getComponent(choice.axis));
            this.cut.set(new Vector4(n.x, n.y, n.z, d));
            this.walls.setClipping([new Plane(n.negate(), -d)]);
        }
        this.stage.invalidate();
    }

    setGrainStyle(style: { visible: boolean; size: number; opacity: number; marks: boolean }): void {
        this.grainsVisible = style.visible;
        this.size = style.size;
        for (const kind of [this.balls, this.solids]) {
            kind.setSize(style.size);
            kind.setOpacity(style.opacity);
        }
        this.balls.setMarks(style.marks);
        this.balls.mesh.layers.set(style.visible ? 0 : 1);
        this.solids.group.visible = style.visible;
        this.stage.invalidate();
    }

    get hasSolids(): boolean {
        return this.shapes.length > 0;
    }

    /** Instances that are drawn, before the cut. */
    get counts(): { balls: number; solids: number; contacts: number; walls: number } {
        return {
            balls: this.grainsVisible ? this.balls.count : 0,
            solids: this.grainsVisible ? this.solids.count : 0,
            contacts: this.bars.count,
            walls: this.walls.cells,
        };
    }

    private isHidden(row: number): boolean {
        const c = this.packing?.centre;
        return !c || this.cut.hides(c[3 * row], c[3 * row + 1], c[3 * row + 2]);
    }

    /** The camera in the run's coordinates; `height` of what is seen at the target. */
    get camera(): { position: number[]; target: number[]; perspective: boolean; height: number } {
        const { position, target, perspective, height } = this.stage.cameraState;
        const moved = (v: Vector3): number[] => v.add(this.origin).toArray();
        return { position: moved(position), target: moved(target), perspective, height };
    }

    /** Row of the grain at a point of the canvas, -1 if there is none. */
    pickAt(x: number, y: number): number {
        if (!this.packing || !this.grainsVisible) return -1;
        return this.picker.pick(this.stage.rayThrough(x, y), this.packing, this.size, (row) => this.isHidden(row));
    }

    /** Where the grain in a row is on the canvas. */
    screenOfRow(row: number): { x: number; y: number; radius: number } | undefined {
        if (!this.packing || row < 0 || row >= this.packing.count) return undefined;
        return this.stage.screenOf(new Vector3().fromArray(this.packing.centre, 3 * row), this.packing.radius[row] * this.size);
    }

    /** Typical radius, for the width of the bars. */
    get meanRadius(): number {
        const { packing } = this;
        if (!packing || packing.count === 0) return 1;
        return packing.radius.reduce((sum, r) => sum + r, 0) / packing.count;
    }
}
