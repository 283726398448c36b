// Disks and spheres, all of them in one draw call: a triangle that faces the eye for each, on which
// the shader draws the round thing. The triangle stands at the depth of the centre. That is enough to
// hide one another rightly, because along a line of sight bodies that do not overlap come in the
// order of the middles of their chords.
//
// In the plane translucent disks are blended in their order. In space an opacity is the chance that a
// pixel is drawn: the mean over many exposures is right whatever lies in front of what.
import { Mesh, type BufferGeometry, type RawShaderMaterial } from "three";
import { shaderMaterial, type Colours, type Cut } from "./look";
import { cornersOnly, Table } from "./table";

const VERTEX = `
uniform sampler2D uPlaces, uValues;
uniform float uSize;
out vec2 vAt;
flat out vec3 vColour;
#ifdef IN_SPACE
flat out int vRow;
flat out vec2 vDepth; // of the centre, and the radius
#else
flat out vec2 vMark;
#endif

// The triangle about the unit circle: a third fewer corners than a square, and half the faces.
const vec2 AROUND[3] = vec2[](vec2(0.0, 2.0), vec2(-1.7320509, -1.0), vec2(1.7320509, -1.0));

void main() {
    int row = gl_VertexID / 3;
    vAt = AROUND[gl_VertexID - 3 * row];
    vec4 place = numbersOf(uPlaces, row);
    vec4 number = numbersOf(uValues, row); // value, state, angle
    vec3 c = (modelViewMatrix * vec4(place.xyz, 1.0)).xyz;
    float r = place.w * uSize;
    vec3 z = towardsEye(c);
    vec3 x = normalize(cross(vec3(0.0, 1.0, 0.0), z));
    // Seen from near by, the outline of a sphere is larger than its radius.
    float grow = isPerspective() ? inversesqrt(max(1.0 - r * r / dot(c, c), 0.05)) : 1.0;
    vec3 p = c + r * grow * (vAt.x * x + vAt.y * cross(z, x));
    gl_Position = number.y > 1.5 || isCut(place.xyz) ? NOWHERE : seen(p);
    vColour = colourOf(number.x);
    if (number.y > 0.5) vColour = dimmed(vColour);
#ifdef IN_SPACE
    vRow = row;
    vDepth = vec2(-c.z, r);
#else
    vMark = vec2(cos(number.z), sin(number.z));
#endif
}`;

const FRAGMENT_3D = `
in vec2 vAt;
flat in vec3 vColour;
flat in int vRow;
flat in vec2 vDepth;
uniform float uOpacity;

void main() {
    float h = 1.0 - dot(vAt, vAt);
    if (h < 0.0 || (uOpacity < 1.0 && chance(vRow) > uOpacity)) discard;
    vec3 normal = vec3(vAt, sqrt(h));
    outColour = vec4(lit(vColour, normal), 1.0);
    outSurface = vec4(normal, vDepth.x - vDepth.y * normal.z);
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
    outColour = vec4(vColour * (1.0 - 0.5 * dark), cover * uOpacity);
}`;

/** Balls of a frame: centres relative to the stage's origin, turns in radians, numbers, states. */
export interface BallRows {
    rows: Int32Array;
    centre: Float32Array;
    radius: Float32Array;
    angle: (row: number) => number;
}

export class Balls {
    readonly mesh: Mesh<BufferGeometry, RawShaderMaterial>;
    count = 0;
    private rows: Int32Array = new Int32Array(0);
    private readonly places = new Table(1);
    private readonly values = new Table(1);
    private readonly uniforms = {
        uSize: { value: 1 }, uOpacity: { value: 1 }, uMarks: { value: 0 },
        uPlaces: this.places.uniform, uValues: this.values.uniform,
    };

    constructor(dim: 2 | 3, colours: Colours, cut: Cut) {
        const uniforms = { ...colours.uniforms, ...cut.uniforms, ...this.uniforms };
        this.mesh = new Mesh(cornersOnly(), shaderMaterial(VERTEX, dim === 3 ? FRAGMENT_3D : FRAGMENT_2D, uniforms, dim));
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = 1;
    }

    setRows({ rows, centre, radius, angle }: BallRows): void {
        this.rows = rows;
        this.count = rows.length;
        this.mesh.geometry.setDrawRange(0, 3 * this.count);
        const place = this.places.write(this.count);
        const value = this.values.write(this.count);
        for (let i = 0; i < this.count; i++) {
            const row = rows[i];
            place[4 * i] = centre[3 * row];
            place[4 * i + 1] = centre[3 * row + 1];
            place[4 * i + 2] = centre[3 * row + 2];
            place[4 * i + 3] = radius[row];
            value[4 * i + 2] = angle(row);
        }
    }

    setValues(values: Float32Array, states: Uint8Array): void {
        const value = this.values.write(this.count);
        for (let i = 0; i < this.count; i++) {
            value[4 * i] = values[this.rows[i]];
            value[4 * i + 1] = states[this.rows[i]];
        }
    }

    setMarks(on: boolean): void {
        this.uniforms.uMarks.value = on ? 1 : 0;
    }

    setSize(factor: number): void {
        this.uniforms.uSize.value = factor;
    }

    setOpacity(opacity: number): void {
        this.uniforms.uOpacity.value = opacity;
    }

    get bytes(): number {
        return this.places.bytes + this.values.bytes;
    }
}
