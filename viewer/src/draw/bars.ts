// Contacts as force chains: a bar from centre to centre, its width by the normal force. A bar is a
// ribbon that faces the eye, shaded as a rod; all of them in one draw call. Trails are bars, too.
import { Mesh, type BufferGeometry, type RawShaderMaterial } from "three";
import { shaderMaterial, type Colours, type Cut } from "./look";
import { cornersOnly, Table } from "./table";

const VERTEX = `
uniform sampler2D uBars;
uniform float uWidth, uWidest, uLeast;
uniform float uPlain;
uniform vec3 uPush, uPull;
out float vAcross;
flat out vec3 vColour;
out float vDepth;
flat out vec3 vSide;

const vec2 CORNERS[6] = vec2[](vec2(0.0, -1.0), vec2(1.0, -1.0), vec2(1.0, 1.0), vec2(0.0, -1.0), vec2(1.0, 1.0), vec2(0.0, 1.0));

void main() {
    int row = gl_VertexID / 6;
    vec2 corner = CORNERS[gl_VertexID - 6 * row];
    vec4 one = numbersOf(uBars, 2 * row), two = numbersOf(uBars, 2 * row + 1);
    float force = one.w, value = two.w;
    vec3 a = (modelViewMatrix * vec4(one.xyz, 1.0)).xyz;
    vec3 b = (modelViewMatrix * vec4(two.xyz, 1.0)).xyz;
    vec3 at = mix(a, b, corner.x);
    vec3 side = cross(b - a, towardsEye(at));
    float l = length(side);
    vSide = l > 0.0 ? side / l : vec3(1.0, 0.0, 0.0);
    at += vSide * corner.y * min(uWidth * abs(force), uWidest);
    gl_Position = abs(force) < uLeast || isCut(0.5 * (one.xyz + two.xyz)) ? NOWHERE : seen(at);
    vAcross = corner.y;
    vDepth = -at.z;
    vColour = uPlain > 0.5 ? (force < 0.0 ? uPull : uPush) : colourOf(value);
}`;

const FRAGMENT = `
in float vAcross;
flat in vec3 vColour;
in float vDepth;
flat in vec3 vSide;

void main() {
    float round = sqrt(max(1.0 - vAcross * vAcross, 0.0));
#ifdef IN_SPACE
    vec3 normal = normalize(vec3(vAcross * vSide.xy, round + 0.01));
    outColour = vec4(lit(vColour, normal), 1.0);
    outSurface = vec4(normal, vDepth);
#else
    outColour = vec4(vColour * (0.78 + 0.22 * round), 1.0);
#endif
}`;

/** Ends relative to the origin, normal forces (positive: the bodies push each other apart). */
export interface BarRows {
    count: number;
    start: (row: number, axis: number) => number;
    end: (row: number, axis: number) => number;
    force: ArrayLike<number>;
    values: ArrayLike<number>;
}

/** Compression red, tension blue: the colours of plain bars, and of their legend. */
export const PUSH = [0.83, 0.2, 0.17];
export const PULL = [0.13, 0.4, 0.8];

export class Bars {
    readonly mesh: Mesh<BufferGeometry, RawShaderMaterial>;
    count = 0;
    private readonly table = new Table(2);
    private readonly uniforms = {
        uWidth: { value: 0 }, uWidest: { value: 0 }, uLeast: { value: 0 }, uPlain: { value: 1 },
        uPush: { value: PUSH }, uPull: { value: PULL }, uBars: this.table.uniform,
    };

    constructor(dim: 2 | 3, colours: Colours, cut: Cut, order: number) {
        const uniforms = { ...colours.uniforms, ...cut.uniforms, ...this.uniforms };
        this.mesh = new Mesh(cornersOnly(), shaderMaterial(VERTEX, FRAGMENT, uniforms, dim));
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = order;
        this.mesh.visible = false;
    }

    setRows({ count, start, end, force, values }: BarRows): void {
        this.count = count;
        this.mesh.visible = count > 0;
        this.mesh.geometry.setDrawRange(0, 6 * count);
        const data = this.table.write(count);
        for (let i = 0; i < count; i++) {
            for (let k = 0; k < 3; k++) {
                data[8 * i + k] = start(i, k);
                data[8 * i + 4 + k] = end(i, k);
            }
            data[8 * i + 3] = force[i];
            data[8 * i + 7] = values[i];
        }
    }

    hide(): void {
        this.mesh.visible = false;
        this.count = 0;
    }

    /** Half width of a bar per newton, the largest that it gets, and the least force that is drawn. */
    setWidth(perForce: number, widest: number, least = 0): void {
        this.uniforms.uWidth.value = perForce;
        this.uniforms.uWidest.value = widest;
        this.uniforms.uLeast.value = least;
    }

    /** Plain: one colour for pushing, one for pulling contacts, whatever their numbers. */
    setPlain(plain: boolean): void {
        this.uniforms.uPlain.value = plain ? 1 : 0;
    }

    get bytes(): number {
        return this.mesh.visible ? this.table.bytes : 0;
    }
}
