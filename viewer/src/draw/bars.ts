// Contacts as force chains: a bar from centre to centre, its width by the normal force. A bar is a
// ribbon that faces the eye, shaded as a rod; all of them in one draw call.
import { Mesh, type BufferGeometry, type RawShaderMaterial } from "three";
import { shaderMaterial, type Colours, type Cut } from "./look";
import { Sprites } from "./sprites";

const VERTEX = `
in vec3 start, end;
in float force, value;
uniform float uWidth;
uniform float uPlain;
uniform vec3 uPush, uPull;
out float vAcross;
flat out vec3 vColour;

void main() {
    vec3 a = (modelViewMatrix * vec4(start, 1.0)).xyz;
    vec3 b = (modelViewMatrix * vec4(end, 1.0)).xyz;
    vec3 at = mix(a, b, position.x);
    vec3 side = cross(b - a, towardsEye(at));
    float l = length(side);
    at += (l > 0.0 ? side / l : vec3(1.0, 0.0, 0.0)) * position.y * uWidth * abs(force);
    gl_Position = isCut(0.5 * (start + end)) ? NOWHERE : projectionMatrix * vec4(at, 1.0);
    vAcross = position.y;
    vColour = uPlain > 0.5 ? (force < 0.0 ? uPull : uPush) : colourOf(value);
}`;

const FRAGMENT = `
in float vAcross;
flat in vec3 vColour;

void main() {
    float shade = 0.7 + 0.3 * sqrt(max(1.0 - vAcross * vAcross, 0.0));
    outColour = vec4(vColour * shade, 1.0);
}`;

/** Ends relative to the origin, normal forces (positive: the bodies push each other apart). */
export interface BarRows {
    count: number;
    start: Float32Array;
    end: Float32Array;
    force: Float32Array;
}

export class Bars {
    readonly mesh: Mesh<BufferGeometry, RawShaderMaterial>;
    private readonly sprites = new Sprites([0, -1, 1, -1, 1, 1, 0, 1], { start: 3, end: 3, force: 1, value: 1 });
    private readonly uniforms = {
        uWidth: { value: 0 },
        uPlain: { value: 1 },
        uPush: { value: [0.82, 0.13, 0.14] },
        uPull: { value: [0.1, 0.35, 0.75] },
    };

    constructor(dim: 2 | 3, colours: Colours, cut: Cut) {
        const uniforms = { ...colours.uniforms, ...cut.uniforms, ...this.uniforms };
        this.mesh = new Mesh(this.sprites.geometry, shaderMaterial(VERTEX, FRAGMENT, uniforms, dim));
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = dim === 2 ? 2 : 0;
        this.mesh.visible = false;
    }

    setRows(rows: BarRows, values: Float32Array): void {
        this.sprites.setCount(rows.count);
        this.mesh.visible = rows.count > 0;
        this.sprites.set("start", rows.start);
        this.sprites.set("end", rows.end);
        this.sprites.set("force", rows.force);
        this.sprites.set("value", values);
    }

    hide(): void {
        this.mesh.visible = false;
    }

    get count(): number {
        return this.mesh.visible ? this.sprites.count : 0;
    }

    /** Half width of a bar per newton. */
    setWidth(perForce: number): void {
        this.uniforms.uWidth.value = perForce;
    }

    /** Plain: one colour for pushing, one for pulling contacts, whatever their numbers. */
    setPlain(plain: boolean): void {
        this.uniforms.uPlain.value = plain ? 1 : 0;
    }
}
