// Walls as the recorder shows them (surface.json) and the outline of the periodic cell. In space
// walls are translucent with their edges; in the plane they are lines and filled obstacles.
import { BufferAttribute, BufferGeometry, Color, DoubleSide, EdgesGeometry, Group, Mesh,
         MeshBasicMaterial, type Plane, type Vector3 } from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import type { FrameInfo, Surface } from "../data/run";
import { OVER_LAYER } from "./pipeline";

const SHARP = 20; // degrees: the least angle between faces that counts as an edge

export class Walls {
    readonly group = new Group();
    private readonly fill: MeshBasicMaterial;
    private readonly line: LineMaterial;
    private readonly cellLine: LineMaterial;
    private readonly walls = new Group();
    private readonly cell = new Group();
    /** Cells of the surface that are drawn, for tests. */
    cells = 0;

    constructor(private readonly dim: 2 | 3) {
        this.fill = new MeshBasicMaterial({
            color: new Color(0x7d8da3), side: DoubleSide, depthWrite: false, depthTest: dim === 3,
            transparent: true,
        });
        this.line = lineMaterial(0x54606f, dim === 3 ? 1.2 : 2, dim);
        this.cellLine = lineMaterial(0x8c6bb1, 1.4, dim);
        this.cellLine.dashed = true;
        this.group.add(this.walls, this.cell);
    }

    setClipping(planes: Plane[]): void {
        this.fill.clippingPlanes = planes;
        this.line.clippingPlanes = planes;
    }

    setVisible(walls: boolean, cell: boolean): void {
        this.walls.visible = walls;
        this.cell.visible = cell;
    }

    get visible(): boolean {
        return this.walls.visible;
    }

    /** Of the faces; lines fade only when these are nearly gone. */
    setOpacity(opacity: number): void {
        this.fill.opacity = this.dim === 3 ? opacity : Math.min(3.5 * opacity, 1);
        this.fill.depthWrite = this.dim === 3 && opacity >= 1;
        this.line.opacity = Math.min(opacity * 8, 1);
    }

    setInk(colour: string): void {
        this.line.color.setStyle(colour);
    }

    setSurface(surface: Surface, origin: Vector3): void {
        clear(this.walls);
        this.cells = surface.cells.length;
        if (this.cells === 0) return;
        const points = new Float32Array(surface.points.length);
        for (let i = 0; i < points.length; i++) points[i] = surface.points[i] - origin.getComponent(i % 3);
        const at = (i: number): number[] => [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
        const segments: number[] = [];
        for (const cell of surface.cells.slice(0, surface.lines)) {
            for (let i = 1; i < cell.length; i++) segments.push(...at(cell[i - 1]), ...at(cell[i]));
        }
        const triangles = surface.cells.slice(surface.lines).flatMap((cell) =>
            cell.slice(2).flatMap((_, i) => [cell[0], cell[i + 1], cell[i + 2]]));
        if (triangles.length > 0) {
            const geometry = new BufferGeometry();
            geometry.setAttribute("position", new BufferAttribute(points, 3));
            geometry.setIndex(triangles);
            const mesh = new Mesh(geometry, this.fill);
            mesh.renderOrder = this.dim === 2 ? 0 : 3;
            mesh.layers.set(OVER_LAYER);
            this.walls.add(mesh);
            const edges = new EdgesGeometry(geometry, SHARP);
            segments.push(...(edges.getAttribute("position").array as Float32Array));
            edges.dispose();
        }
        this.walls.add(this.lines(segments, this.line));
    }

    setCell(info: FrameInfo, low: Vector3, high: Vector3, origin: Vector3): void {
        clear(this.cell);
        if (!info.periodic.some(Boolean)) return;
        // Along an axis that is not periodic the outline spans the grains.
        const side = (k: number): number[] =>
            (info.periodic[k] ? [info.cell_low[k], info.cell_high[k]] : [low.getComponent(k), high.getComponent(k)])
                .map((x) => x - origin.getComponent(k));
        const box = [side(0), side(1), this.dim === 3 ? side(2) : [0, 0]];
        const lines = this.lines(boxEdges(box, this.dim), this.cellLine);
        const size = Math.max(...box.map(([a, b]) => b - a));
        this.cellLine.dashSize = this.cellLine.gapSize = size / 60;
        lines.computeLineDistances();
        this.cell.add(lines);
    }

    private lines(segments: number[], material: LineMaterial): LineSegments2 {
        const lines = new LineSegments2(new LineSegmentsGeometry().setPositions(segments), material);
        lines.renderOrder = 4;
        lines.layers.set(OVER_LAYER);
        lines.frustumCulled = false;
        return lines;
    }
}

function lineMaterial(colour: number, width: number, dim: 2 | 3): LineMaterial {
    return new LineMaterial({ color: colour, linewidth: width, depthTest: dim === 3, transparent: true, clipping: true });
}

function boxEdges(box: number[][], dim: 2 | 3): number[] {
    const out: number[] = [];
    for (let axis = 0; axis < dim; axis++) {
        const others = [0, 1, 2].filter((k) => k !== axis);
        for (const [i, j] of [[0, 0], [0, 1], [1, 0], [1, 1]]) {
            for (const end of [0, 1]) {
                const p = [0, 0, 0];
                p[axis] = box[axis][end];
                p[others[0]] = box[others[0]][i];
                p[others[1]] = box[others[1]][j];
                out.push(...p);
            }
        }
    }
    return out;
}

function clear(group: Group): void {
    for (const child of [...group.children]) {
        (child as Mesh).geometry.dispose();
        group.remove(child);
    }
}
