// Arrows of a vector field, from the centres of the grains: flat, turned towards the eye, all of them
// in one draw call.
import { Mesh, type BufferGeometry, type RawShaderMaterial } from "three";
import { shaderMaterial, type Colours, type Cut } from "./look";
import { cornersOnly, Table } from "./table";

const VERTEX = `
uniform sampler2D uArrows;
uniform float uLength, uLongest, uThick;
uniform bool uPlain;
uniform vec3 uInk;
flat out vec3 vColour;
out float vDepth;

// Along the arrow from 0 to 1 (the head is measured in thicknesses from the tip), and across.
const vec3 CORNERS[9] = vec3[](
    vec3(0.0, 0.0, -1.0), vec3(1.0, -4.5, -1.0), vec3(1.0, -4.5, 1.0),
    vec3(0.0, 0.0, -1.0), vec3(1.0, -4.5, 1.0), vec3(0.0, 0.0, 1.0),
    vec3(1.0, -5.0, -2.6), vec3(1.0, 0.0, 0.0), vec3(1.0, -5.0, 2.6));

void main() {
    int row = gl_VertexID / 9;
    vec3 corner = CORNERS[gl_VertexID - 9 * row];
    vec4 from = numbersOf(uArrows, 2 * row), way = numbersOf(uArrows, 2 * row + 1);
    vec3 a = (modelViewMatrix * vec4(from.xyz, 1.0)).xyz;
    vec3 along = mat3(modelViewMatrix) * way.xyz * uLength;
    along *= min(1.0, uLongest / max(length(along), 1e-30));
    float l = length(along);
    // Short arrows are thinner, so that their heads are not longer than they.
    float thick = min(uThick, 0.12 * l);
    vec3 d = l > 0.0 ? along / l : vec3(0.0);
    vec3 at = a + along * corner.x + d * corner.y * thick;
    vec3 side = cross(d, towardsEye(a));
    float s = length(side);
    at += (s > 0.0 ? side / s : vec3(1.0, 0.0, 0.0)) * corner.z * thick;
#ifdef IN_SPACE
    at += towardsEye(a) * from.w; // in front of its grain
#endif
    gl_Position = l == 0.0 || isCut(from.xyz) ? NOWHERE : seen(at);
    vDepth = -at.z;
    vColour = uPlain ? uInk : colourOf(way.w);
}`;

const FRAGMENT = `
flat in vec3 vColour;
in float vDepth;

void main() {
    outColour = vec4(vColour, 1.0);
#ifdef IN_SPACE
    outSurface = vec4(0.0, 0.0, 1.0, vDepth);
#endif
}`;

export class Arrows {
    readonly mesh: Mesh<BufferGeometry, RawShaderMaterial>;
    count = 0;
    private readonly table = new Table(2);
    private readonly uniforms = {
        uLength: { value: 1 }, uLongest: { value: 1 }, uThick: { value: 1 }, uPlain: { value: true }, uInk: { value: [0, 0, 0] },
        uArrows: this.table.uniform,
    };

    constructor(dim: 2 | 3, colours: Colours, cut: Cut) {
        const uniforms = { ...colours.uniforms, ...cut.uniforms, ...this.uniforms };
        this.mesh = new Mesh(cornersOnly(), shaderMaterial(VERTEX, FRAGMENT, uniforms, dim));
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = 3;
        this.mesh.visible = false;
    }

    /** Arrows of the rows `rows`: `vector` has `width` numbers for each row of the table. */
    setRows(rows: Int32Array, centre: Float32Array, radius: Float32Array, vector: ArrayLike<number>, width: number,
            values: Float32Array): void {
        this.count = rows.length;
        this.mesh.visible = this.count > 0;
        this.mesh.geometry.setDrawRange(0, 9 * this.count);
        const data = this.table.write(this.count);
        for (let i = 0; i < this.count; i++) {
            const row = rows[i];
            for (let k = 0; k < 3; k++) {
                data[8 * i + k] = centre[3 * row + k];
                data[8 * i + 4 + k] = k < width ? vector[width * row + k] : 0;
            }
            data[8 * i + 3] = radius[row];
            data[8 * i + 7] = values[row];
        }
    }

    hide(): void {
        this.mesh.visible = false;
        this.count = 0;
    }

    /** Metres for each unit of the field, the longest that an arrow gets, half thickness in metres, ink (undefined: the grains' colours). */
    setStyle(length: number, longest: number, thick: number, ink: number[] | undefined): void {
        this.uniforms.uLength.value = length;
        this.uniforms.uLongest.value = longest;
        this.uniforms.uThick.value = thick;
        this.uniforms.uPlain.value = ink !== undefined;
        if (ink) this.uniforms.uInk.value = ink;
    }

    get bytes(): number {
        return this.mesh.visible ? this.table.bytes : 0;
    }
}
