// Contacts as force chains: a bar from centre to centre, its width by the normal force. A bar is a
// ribbon that faces the eye, shaded as a rod; all of them in one draw call.
import { BufferAttribute, InstancedBufferGeometry, Mesh, type RawShaderMaterial } from "three";
import { setInstances } from "./balls";
import { shaderMaterial, type Colours, type Cut } from "./look";

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
    readonly mesh: Mesh<InstancedBufferGeometry, RawShaderMaterial>;
    private readonly uniforms = {
        uWidth: { value: 0 },
        uPlain: { value: 1 },
        uPush: { value: [0.66, 0.11, 0.15] },
        uPull: { value: [0.1, 0.35, 0.75] },
    };

    constructor(dim: 2 | 3, colours: Colours, cut: Cut) {
        const uniforms = { ...colours.uniforms, ...cut.uniforms, ...this.uniforms };
        const geometry = new InstancedBufferGeometry();
        const corners = new Float32Array([0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0]);
        geometry.setAttribute("position", new BufferAttribute(corners, 3));
        geometry.setIndex([0, 1, 2, 0, 2, 3]);
        this.mesh = new Mesh(geometry, shaderMaterial(VERTEX, FRAGMENT, uniforms, dim));
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = dim === 2 ? 2 : 0;
        this.mesh.visible = false;
    }

    setRows(rows: BarRows, values: Float32Array): void {
        const geometry = this.mesh.geometry;
        geometry.instanceCount = rows.count;
        this.mesh.visible = rows.count > 0;
        setInstances(geometry, "start", rows.start, 3);
        setInstances(geometry, "end", rows.end, 3);
        setInstances(geometry, "force", rows.force, 1);
        setInstances(geometry, "value", values, 1);
    }

    hide(): void {
        this.mesh.visible = false;
    }

    get count(): number {
        return this.mesh.visible ? this.mesh.geometry.instanceCount : 0;
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
