// Disks and spheres, all of them in one draw call: a triangle that faces the eye for each, on which
// the shader draws the round thing. The triangle stands at the depth of the centre. That is enough to
// hide one another rightly, because along a line of sight bodies that do not overlap come in the
// order of the middles of their chords.
import { Mesh, type BufferGeometry, type RawShaderMaterial } from "three";
import { setTranslucent, shaderMaterial, type Colours, type Cut } from "./look";
import { Sprites } from "./sprites";

const VERTEX = `
in vec3 centre;
in float radius, value;
uniform float uSize;
out vec2 vAt;
flat out vec3 vColour;
#ifdef MARKS
in float turn;
flat out vec2 vMark;
#endif

void main() {
    vec3 c = (modelViewMatrix * vec4(centre, 1.0)).xyz;
    float r = radius * uSize;
    vec3 z = towardsEye(c);
    vec3 x = normalize(cross(vec3(0.0, 1.0, 0.0), z));
    // Seen from near by, the outline of a sphere is larger than its radius.
    float grow = isPerspective() ? inversesqrt(max(1.0 - r * r / dot(c, c), 0.05)) : 1.0;
    vec3 p = c + r * grow * (position.x * x + position.y * cross(z, x));
    gl_Position = isCut(centre) ? NOWHERE : projectionMatrix * vec4(p, 1.0);
    vAt = position.xy;
    vColour = colourOf(value);
#ifdef MARKS
    vMark = vec2(cos(turn), sin(turn));
#endif
}`;

const FRAGMENT_3D = `
in vec2 vAt;
flat in vec3 vColour;
uniform float uOpacity;

void main() {
    float h = 1.0 - dot(vAt, vAt);
    float cover = clamp(h / fwidth(h) + 0.5, 0.0, 1.0);
    if (cover < 0.01) discard;
    outColour = vec4(lit(vColour, vec3(vAt, sqrt(max(h, 0.0)))), cover * uOpacity);
}`;

const FRAGMENT_2D = `
in vec2 vAt;
flat in vec3 vColour;
flat in vec2 vMark;
uniform float uOpacity, uMarks;

void main() {
    float at = length(vAt);
    float pixel = max(fwidth(at), 1e-6);
    float cover = clamp((1.0 - at) / pixel + 0.5, 0.0, 1.0);
    if (cover < 0.01) discard;
    float rim = clamp((at - 1.0) / pixel + max(1.6, 0.07 / pixel), 0.0, 1.0);
    // The mark that shows the turning: a line from 0.35 to 0.8 of the radius.
    float along = dot(vAt, vMark), aside = abs(dot(vAt, vec2(-vMark.y, vMark.x)));
    float mark = step(0.35, along) * step(along, 0.8) *
                 clamp((0.05 - aside) / pixel + 0.5, 0.0, 1.0) * uMarks * step(pixel, 0.12);
    float dark = max(rim * step(pixel, 0.35), mark);
    outColour = vec4(vColour * (1.0 - 0.55 * dark), cover * uOpacity);
}`;

/** The triangle about the unit circle: a third fewer corners than a square, and half the faces. */
const AROUND_CIRCLE = [0, 2, -Math.sqrt(3), -1, Math.sqrt(3), -1];

/** Balls of a frame: centres relative to the stage's origin, turns in radians. */
export interface BallRows {
    count: number;
    centre: Float32Array;
    radius: Float32Array;
    turn: Float32Array;
}

export class Balls {
    readonly mesh: Mesh<BufferGeometry, RawShaderMaterial>;
    private readonly sprites = new Sprites(AROUND_CIRCLE, { centre: 3, radius: 1, turn: 1, value: 1 });
    private readonly uniforms = { uSize: { value: 1 }, uOpacity: { value: 1 }, uMarks: { value: 0 } };

    constructor(private readonly dim: 2 | 3, colours: Colours, cut: Cut) {
        const uniforms = { ...colours.uniforms, ...cut.uniforms, ...this.uniforms };
        const material = shaderMaterial(VERTEX, dim === 3 ? FRAGMENT_3D : FRAGMENT_2D, uniforms, dim);
        if (dim === 2) material.defines = { MARKS: "" };
        this.mesh = new Mesh(this.sprites.geometry, material);
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = 1;
        this.setOpacity(1);
    }

    setRows(rows: BallRows, values: Float32Array): void {
        this.sprites.setCount(rows.count);
        this.mesh.visible = rows.count > 0;
        this.sprites.set("centre", rows.centre);
        this.sprites.set("radius", rows.radius);
        this.sprites.set("turn", rows.turn);
        this.sprites.set("value", values);
    }

    get count(): number {
        return this.sprites.count;
    }

    setMarks(on: boolean): void {
        this.uniforms.uMarks.value = on ? 1 : 0;
    }

    setSize(factor: number): void {
        this.uniforms.uSize.value = factor;
    }

    setOpacity(opacity: number): void {
        this.uniforms.uOpacity.value = opacity;
        setTranslucent(this.mesh.material, opacity, this.dim);
    }
}
