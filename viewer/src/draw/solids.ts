// Polygons and polyhedra: for each shape of the run one geometry of its faces and one of its edges,
// drawn once for all grains of that shape, each with its place, size, turn and number.
import { BufferAttribute, DynamicDrawUsage, Group, InstancedBufferAttribute, InstancedBufferGeometry, LineSegments, Mesh,
         type RawShaderMaterial } from "three";
import type { Solid } from "../data/run";
import { shaderMaterial, type Colours, type Cut } from "./look";

const POSE = `
in vec3 position, centre;
in vec4 turn;
in float size;
in vec2 number; // value, state
uniform float uSize;
flat out vec3 vColour;
flat out int vRow;
out float vDepth;

vec3 turned(vec3 v) { return v + 2.0 * cross(turn.xyz, cross(turn.xyz, v) + turn.w * v); }

vec3 pose() {
    vec3 at = (modelViewMatrix * vec4(centre + uSize * size * turned(position), 1.0)).xyz;
    gl_Position = number.y > 1.5 || isCut(centre) ? NOWHERE : seen(at);
    vColour = colourOf(number.x);
    if (number.y > 0.5) vColour = dimmed(vColour);
    vRow = gl_InstanceID;
    vDepth = -at.z;
    return at;
}`;

const FACE_VERTEX = `${POSE}
in vec3 normal;
out vec3 vNormal;

void main() {
    // The normal as the eye sees it: 'up' is the direction towards the eye.
    vec3 z = towardsEye(pose());
    vec3 x = normalize(cross(vec3(0.0, 1.0, 0.0), z));
    vec3 n = mat3(modelViewMatrix) * turned(normal);
    vNormal = vec3(dot(n, x), dot(n, cross(z, x)), dot(n, z));
}`;

const FRAGMENT_PARTS = `
flat in vec3 vColour;
flat in int vRow;
in float vDepth;
uniform float uOpacity;

void put(vec3 colour, vec3 normal) {
#ifdef IN_SPACE
    if (uOpacity < 1.0 && chance(vRow) > uOpacity) discard;
    outColour = vec4(colour, 1.0);
    outSurface = vec4(normal, vDepth);
#else
    outColour = vec4(colour, uOpacity);
#endif
}`;

const FACE_FRAGMENT = `${FRAGMENT_PARTS}
in vec3 vNormal;

void main() {
    vec3 normal = normalize(vNormal);
    put(lit(vColour, normal), normal);
}`;

const EDGE_VERTEX = `${POSE}
void main() { pose(); }`;

const EDGE_FRAGMENT = `${FRAGMENT_PARTS}
void main() { put(0.5 * vColour, vec3(0.0, 0.0, 1.0)); }`;

/** Grains of one shape: places relative to the origin, quaternions x y z w. */
export interface SolidRows {
    count: number;
    centre: Float32Array;
    turn: Float32Array;
    size: Float32Array;
}

export class Solids {
    readonly group = new Group();
    private readonly uniforms = { uSize: { value: 1 }, uOpacity: { value: 1 } };
    private readonly faceMaterial: RawShaderMaterial;
    private readonly edgeMaterial: RawShaderMaterial;
    private readonly shapes: { faces: InstancedBufferGeometry; edges: InstancedBufferGeometry; parts: Group }[];

    constructor(solids: Solid[], private readonly dim: 2 | 3, colours: Colours, cut: Cut) {
        const uniforms = { ...colours.uniforms, ...cut.uniforms, ...this.uniforms };
        this.faceMaterial = shaderMaterial(FACE_VERTEX, FACE_FRAGMENT, uniforms, dim);
        this.edgeMaterial = shaderMaterial(EDGE_VERTEX, EDGE_FRAGMENT, uniforms, dim);
        this.faceMaterial.polygonOffset = true; // faces a little behind their edges
        this.faceMaterial.polygonOffsetFactor = this.faceMaterial.polygonOffsetUnits = 1;
        this.shapes = solids.map((solid) => this.addShape(solid));
    }

    private addShape(solid: Solid): { faces: InstancedBufferGeometry; edges: InstancedBufferGeometry; parts: Group } {
        const faces = faceGeometry(solid, this.dim);
        const edges = edgeGeometry(solid, this.dim);
        const parts = new Group();
        parts.add(new Mesh(faces, this.faceMaterial), new LineSegments(edges, this.edgeMaterial));
        parts.children.forEach((child, order) => {
            child.frustumCulled = false;
            child.renderOrder = 1 + 0.1 * order;
        });
        parts.visible = false;
        this.group.add(parts);
        return { faces, edges, parts };
    }

    setRows(shape: number, rows: SolidRows): void {
        const { faces, edges, parts } = this.shapes[shape];
        parts.visible = rows.count > 0;
        for (const geometry of [faces, edges]) {
            geometry.instanceCount = rows.count;
            setInstances(geometry, "centre", rows.centre, 3);
            setInstances(geometry, "turn", rows.turn, 4);
            setInstances(geometry, "size", rows.size, 1);
        }
    }

    /** Numbers and states of the grains whose rows are given. */
    setValues(shape: number, rows: Int32Array, values: Float32Array, states: Uint8Array): void {
        const number = new Float32Array(2 * rows.length);
        for (let i = 0; i < rows.length; i++) {
            number[2 * i] = values[rows[i]];
            number[2 * i + 1] = states[rows[i]];
        }
        for (const geometry of [this.shapes[shape].faces, this.shapes[shape].edges]) setInstances(geometry, "number", number, 2);
    }

    get count(): number {
        return this.shapes.reduce((sum, s) => sum + (s.parts.visible ? s.faces.instanceCount : 0), 0);
    }

    setSize(factor: number): void {
        this.uniforms.uSize.value = factor;
    }

    setOpacity(opacity: number): void {
        this.uniforms.uOpacity.value = opacity;
    }

    get bytes(): number {
        return this.shapes.flatMap((s) => [s.faces, s.edges]).flatMap((g) => Object.values(g.attributes))
            .reduce((sum, a) => sum + (a.array as Float32Array).byteLength, 0);
    }
}

function corner(vertex: number[]): [number, number, number] {
    return [vertex[0], vertex[1], vertex[2] ?? 0];
}

/** Faces as fans of triangles (they are convex), each with its own normal. */
function faceGeometry(solid: Solid, dim: 2 | 3): InstancedBufferGeometry {
    const position: number[] = [];
    const normal: number[] = [];
    for (const part of solid.parts) {
        for (const face of part.faces) {
            const at = face.map((i) => corner(part.vertex[i]));
            const n = dim === 2 ? [0, 0, 1] : normalOf(at);
            for (let i = 2; i < at.length; i++) {
                position.push(...at[0], ...at[i - 1], ...at[i]);
                normal.push(...n, ...n, ...n);
            }
        }
    }
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(position), 3));
    geometry.setAttribute("normal", new BufferAttribute(new Float32Array(normal), 3));
    return geometry;
}

/** Newell's normal of a plane polygon, counterclockwise from outside. */
export function normalOf(at: number[][]): [number, number, number] {
    const n: [number, number, number] = [0, 0, 0];
    for (let i = 0; i < at.length; i++) {
        const [p, q] = [at[i], at[(i + 1) % at.length]];
        n[0] += (p[1] - q[1]) * (p[2] + q[2]);
        n[1] += (p[2] - q[2]) * (p[0] + q[0]);
        n[2] += (p[0] - q[0]) * (p[1] + q[1]);
    }
    const length = Math.hypot(...n) || 1;
    return [n[0] / length, n[1] / length, n[2] / length];
}

/** Each edge once. In the plane an edge between two parts of a shape is no edge of the shape. */
function edgeGeometry(solid: Solid, dim: 2 | 3): InstancedBufferGeometry {
    const edges = new Map<string, { ends: number[]; times: number }>();
    const key = (v: number[]): string => v.map((x) => (x / solid.radius).toFixed(6)).join();
    for (const part of solid.parts) {
        for (const face of part.faces) {
            face.forEach((i, k) => {
                const ends = [corner(part.vertex[i]), corner(part.vertex[face[(k + 1) % face.length]])];
                const name = ends.map(key).sort().join(";");
                const known = edges.get(name);
                if (known) known.times++;
                else edges.set(name, { ends: ends.flat(), times: 1 });
            });
        }
    }
    const kept = [...edges.values()].filter((e) => dim === 3 || e.times === 1);
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(kept.flatMap((e) => e.ends)), 3));
    return geometry;
}

/** Numbers of the instances of a geometry. */
function setInstances(geometry: InstancedBufferGeometry, name: string, data: Float32Array, width: number): void {
    const old = geometry.getAttribute(name) as InstancedBufferAttribute | undefined;
    if (old && old.array.length === data.length) {
        (old.array as Float32Array).set(data);
        old.needsUpdate = true;
        return;
    }
    if (old) geometry.dispose(); // the old buffer on the graphics processor
    const fresh = new InstancedBufferAttribute(data, width);
    fresh.setUsage(DynamicDrawUsage);
    geometry.setAttribute(name, fresh);
}
