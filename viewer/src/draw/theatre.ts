// Everything that is drawn of a frame, and how: grains, contacts, arrows, trails, walls, cell, the
// cut, periodic images. The app says what to show in terms of the run; the theatre puts it on the
// stage, relative to an origin amid the grains.
import { Box3, Group, Plane, Vector3, Vector4 } from "three";
import type { FrameInfo, Solid, Surface } from "../data/run";
import type { Numbers } from "../data/source";
import { Arrows } from "./arrows";
import { Balls } from "./balls";
import { Bars } from "./bars";
import { Colours, Cut, HIDDEN, SHOWN } from "./look";
import { ballsOf, boundsOf, makePacking, solidsOf, type GrainArrays, type Packing } from "./packing";
import { Picker } from "./picking";
import { Solids } from "./solids";
import { Stage, type View } from "./stage";
import { Walls } from "./walls";

export interface CutChoice {
    on: boolean;
    axis: number;
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

/** A way of a grain: x, y, z of one place after the other, and the number it is coloured by. */
export interface Trail {
    points: Float64Array;
    value: number;
}

const FAR = 2; // extents of the grains: walls farther off need not be in sight
const SAMPLE = 20000; // grains that are looked at to find what must be in sight

export class Theatre {
    readonly stage: Stage;
    readonly grainColours = new Colours();
    readonly contactColours = new Colours();
    readonly bars: Bars;
    readonly trails: Bars;
    readonly arrows: Arrows;
    readonly walls: Walls;
    private readonly balls: Balls;
    private readonly solids: Solids;
    private readonly images = new Group();
    private readonly cut = new Cut();
    private readonly picker: Picker;
    private readonly origin = new Vector3();
    private packing: Packing | undefined;
    private states: Uint8Array = new Uint8Array(0);
    private grainBounds = new Box3();
    private wallPoints: Vector3[] = [];
    private wallBounds = new Box3();
    private offsets: Vector3[] = [];
    private cutChoice: CutChoice = { on: false, axis: 1, place: 0.5, flip: false };
    private grainsVisible = true;
    private size = 1;

    constructor(canvas: HTMLCanvasElement, dim: 2 | 3, private readonly shapes: Solid[]) {
        this.stage = new Stage(canvas, dim);
        this.balls = new Balls(dim, this.grainColours, this.cut);
        this.solids = new Solids(shapes, dim, this.grainColours, this.cut);
        this.bars = new Bars(dim, this.contactColours, this.cut, 2);
        this.trails = new Bars(dim, this.grainColours, this.cut, 2.5);
        this.trails.setPlain(false);
        this.arrows = new Arrows(dim, this.grainColours, this.cut);
        this.walls = new Walls(dim);
        this.picker = new Picker(shapes, dim);
        this.stage.scene.add(...this.kinds, this.walls.group, this.images);
    }

    private get kinds(): (Group | Balls["mesh"])[] {
        return [this.balls.mesh, this.solids.group, this.bars.mesh, this.trails.mesh, this.arrows.mesh];
    }

    // ---- grains ------------------------------------------------------------------------------

    /** The first grains decide where the origin of the scene is: single precision suffices near it. */
    setGrains(arrays: GrainArrays): void {
        const { dim } = this.stage;
        if (!this.packing) {
            for (let k = 0; k < dim; k++) {
                const x = arrays.position[k] ?? 0;
                this.origin.setComponent(k, Number.isFinite(x) ? x : 0);
            }
        }
        const packing = makePacking(arrays, dim, this.shapes.length, this.origin);
        this.packing = packing;
        this.balls.setRows(ballsOf(packing));
        this.shapes.forEach((_, s) => this.solids.setRows(s, solidsOf(packing, s)));
        this.grainBounds = boundsOf(packing);
        this.stage.style.grain = this.meanRadius;
        this.updateBounds();
    }

    /** Numbers to colour by, and which grains are pale or not there at all. */
    setValues(values: Float32Array, states: Uint8Array): void {
        const { packing } = this;
        if (!packing) return;
        this.states = states;
        this.balls.setValues(values, states);
        this.shapes.forEach((_, s) => this.solids.setValues(s, packing.solidRows[s], values, states));
        this.stage.invalidate();
    }

    setGrainStyle(style: { visible: boolean; size: number; opacity: number; marks: boolean }): void {
        this.grainsVisible = style.visible && style.opacity > 0;
        this.size = style.size;
        for (const kind of [this.balls, this.solids]) {
            kind.setSize(style.size);
            kind.setOpacity(style.opacity);
        }
        this.balls.setMarks(style.marks);
        this.balls.mesh.visible = this.grainsVisible && this.balls.count > 0;
        this.solids.group.visible = this.grainsVisible;
        this.updateImages();
    }

    get hasSolids(): boolean {
        return this.shapes.length > 0;
    }

    /** Typical radius, for the width of the bars. */
    get meanRadius(): number {
        const { packing } = this;
        if (!packing || packing.count === 0) return 1;
        return packing.radius.reduce((sum, r) => sum + r, 0) / packing.count;
    }

    // ---- contacts, arrows, trails ----------------------------------------------------------------

    setContacts(chains: Chains | undefined): void {
        if (!chains) {
            this.bars.hide();
        } else {
            const { segment, force, values } = chains;
            const rows: number[] = [];
            for (let i = 0; i < force.length; i++) if (force[i] !== 0) rows.push(i);
            this.bars.setRows({
                count: rows.length,
                start: (i, k) => segment[6 * rows[i] + k] - this.origin.getComponent(k),
                end: (i, k) => segment[6 * rows[i] + 3 + k] - this.origin.getComponent(k),
                force: rows.map((row) => force[row]), values: rows.map((row) => values[row]),
            });
        }
        this.updateImages();
    }

    /** Arrows of all grains that are as they are (neither pale nor hidden). */
    setArrows(vector: Numbers | undefined, width: number, values: Float32Array): void {
        const { packing } = this;
        if (!packing || !vector) {
            this.arrows.hide();
        } else {
            const rows = Int32Array.from(packing.radius.keys()).filter((row) => this.states[row] === SHOWN);
            this.arrows.setRows(rows, packing.centre, packing.radius, vector, width, values);
        }
        this.updateImages();
    }

    /** Where some grains came from. The line is thinner the longer ago that was. A step longer than
     *  half the periodic cell is one through its border, and not drawn. */
    setTrails(trails: Trail[], info: FrameInfo): void {
        const from: number[] = [];
        const to: number[] = [];
        const width: number[] = [];
        const values: number[] = [];
        const jumps = (a: number[], b: number[]): boolean => a.some((x, k) =>
            info.periodic[k] && Math.abs(b[k] - x) > (info.cell_high[k] - info.cell_low[k]) / 2);
        for (const { points, value } of trails) {
            const count = points.length / 3;
            for (let i = 1; i < count; i++) {
                const a = Array.from(points.subarray(3 * i - 3, 3 * i));
                const b = Array.from(points.subarray(3 * i, 3 * i + 3));
                if ([...a, ...b].some((x) => !Number.isFinite(x)) || jumps(a, b)) continue;
                from.push(...a);
                to.push(...b);
                width.push(0.15 + 0.85 * (i / (count - 1)));
                values.push(value);
            }
        }
        this.trails.setRows({
            count: values.length, force: width, values,
            start: (i, k) => from[3 * i + k] - this.origin.getComponent(k),
            end: (i, k) => to[3 * i + k] - this.origin.getComponent(k),
        });
        this.trails.setWidth(0.14 * this.meanRadius, this.meanRadius);
        this.updateImages();
    }

    // ---- walls, cell, images, cut ------------------------------------------------------------------

    setSurface(surface: Surface, info: FrameInfo): void {
        this.walls.setSurface(surface, this.origin);
        this.wallPoints = [];
        for (let i = 0; i + 2 < surface.points.length; i += 3) {
            this.wallPoints.push(new Vector3().fromArray(surface.points, i).sub(this.origin));
        }
        this.wallBounds = new Box3().setFromPoints(this.wallPoints);
        const { min, max } = this.extent;
        this.walls.setCell(info, min.clone().add(this.origin), max.clone().add(this.origin), this.origin);
        this.updateBounds();
    }

    /** So many copies of everything on each side, along the axes that are periodic. */
    setImages(count: number, info: FrameInfo): void {
        this.offsets = [];
        const span = (k: number): number[] => (info.periodic[k] && k < this.stage.dim
            ? Array.from({ length: 2 * count + 1 }, (_, i) => (i - count) * (info.cell_high[k] - info.cell_low[k])) : [0]);
        for (const x of span(0)) for (const y of span(1)) for (const z of span(2)) {
            if (x !== 0 || y !== 0 || z !== 0) this.offsets.push(new Vector3(x, y, z));
        }
        this.updateImages();
        this.updateBounds();
    }

    /** Images share what the graphics processor has of the originals. */
    private updateImages(): void {
        this.images.clear();
        for (const offset of this.offsets) {
            for (const kind of this.kinds) {
                if (!kind.visible) continue;
                const image = kind.clone();
                image.position.copy(offset);
                this.images.add(image);
            }
        }
        this.stage.invalidate();
    }

    private updateBounds(): void {
        const all = this.bounds;
        const box = all.clone();
        for (const offset of this.offsets) box.union(all.clone().translate(offset));
        this.stage.setBounds(box.expandByScalar(2 * this.meanRadius));
        this.setCut(this.cutChoice);
    }

    /** The box about grains and walls, relative to the origin. */
    private get bounds(): Box3 {
        return this.grainBounds.clone().union(this.wallBounds);
    }

    /** The box about the grains; about the walls if there are none. */
    private get extent(): Box3 {
        const box = this.grainBounds.isEmpty() ? this.wallBounds : this.grainBounds;
        return box.isEmpty() ? new Box3(new Vector3(), new Vector3()) : box;
    }

    /** Everything in sight: the grains, their images, and the walls unless they are far off. */
    fit(view?: View): void {
        const { packing } = this;
        const points: Vector3[] = [];
        const stride = Math.max(1, Math.ceil((packing?.count ?? 0) / SAMPLE));
        for (let row = 0; packing && row < packing.count; row += stride) {
            const c = new Vector3().fromArray(packing.centre, 3 * row);
            if (this.states[row] === HIDDEN || !Number.isFinite(c.lengthSq())) continue;
            const r = packing.radius[row];
            for (let k = 0; k < this.stage.dim; k++) {
                for (const side of [-r, r]) points.push(c.clone().setComponent(k, c.getComponent(k) + side));
            }
        }
        const grains = points.length;
        for (const offset of this.offsets) for (let i = 0; i < grains; i++) points.push(points[i].clone().add(offset));
        const reach = this.grainBounds.clone();
        const size = reach.getSize(new Vector3());
        reach.expandByScalar(FAR * Math.max(size.x, size.y, size.z));
        if (this.walls.visible) {
            for (const p of this.wallPoints) points.push(grains > 0 ? p.clone().clamp(reach.min, reach.max) : p);
        }
        this.stage.fit(points.length > 0 ? points : [new Vector3(-1, -1, 0), new Vector3(1, 1, 0)], view);
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

    // ---- what is where -------------------------------------------------------------------------

    /** Instances that are drawn, before the cut. */
    get counts(): { balls: number; solids: number; contacts: number; arrows: number; trails: number; walls: number; images: number } {
        return {
            balls: this.grainsVisible ? this.balls.count : 0,
            solids: this.grainsVisible ? this.solids.count : 0,
            contacts: this.bars.count, arrows: this.arrows.count, trails: this.trails.count,
            walls: this.walls.cells, images: this.offsets.length,
        };
    }

    /** Bytes of what is drawn, on the graphics processor. */
    get bytes(): number {
        return [this.balls, this.solids, this.bars, this.trails, this.arrows].reduce((sum, kind) => sum + kind.bytes, 0);
    }

    private isHidden(row: number): boolean {
        const c = this.packing?.centre;
        return !c || this.states[row] === HIDDEN || this.cut.hides(c[3 * row], c[3 * row + 1], c[3 * row + 2]);
    }

    /** The camera in the run's coordinates; `height` of what is seen at the target. */
    get camera(): { position: number[]; target: number[]; perspective: boolean; height: number } {
        const { position, target, perspective, height } = this.stage.cameraState;
        return { position: position.add(this.origin).toArray(), target: target.add(this.origin).toArray(), perspective, height };
    }

    setCamera(position: number[], target: number[], height: number): void {
        const here = (v: number[]): Vector3 => new Vector3().fromArray(v).sub(this.origin);
        this.stage.setCamera(here(position), here(target), height);
    }

    /** Row of the grain at a point of the canvas, -1 if there is none. */
    pickAt(x: number, y: number): number {
        if (!this.packing || !this.grainsVisible) return -1;
        return this.picker.pick(this.stage.rayThrough(x, y), this.packing, this.size, (row) => this.isHidden(row));
    }

    /** Rows of the grains whose centres are within a box on the canvas. */
    rowsWithin(left: number, top: number, right: number, bottom: number): number[] {
        const rows: number[] = [];
        for (let row = 0; this.packing && row < this.packing.count; row++) {
            if (this.isHidden(row)) continue;
            const { x, y } = this.screenOfRow(row)!;
            if (x >= left && x <= right && y >= top && y <= bottom) rows.push(row);
        }
        return rows;
    }

    /** Where the grain in a row is on the canvas; nowhere if only a grain that is shown counts and it is cut off. */
    screenOfRow(row: number, shown = false): { x: number; y: number; radius: number } | undefined {
        if (!this.packing || row < 0 || row >= this.packing.count || (shown && this.isHidden(row))) return undefined;
        return this.stage.screenOf(new Vector3().fromArray(this.packing.centre, 3 * row), this.packing.radius[row] * this.size);
    }
}
