// Rows of numbers on the graphics processor, in a texture of floats. Shaders ask for them by the
// number of the vertex: a thing with n corners is n vertices without attributes, all things are one
// draw call, and each has its numbers there once (an instance of three corners for each is slow, and
// attributes would repeat the numbers at every corner).
import { BufferGeometry, DataTexture, FloatType, NearestFilter, RGBAFormat, Sphere, Vector3 } from "three";

const WIDTH = 4096; // texels in a line of the texture; every WebGL 2 has as many
const SPARE = 1.1; // room for a few more, so that not every frame has a new texture

export const TABLE_GLSL = `
vec4 numbersOf(highp sampler2D table, int texel) { return texelFetch(table, ivec2(texel & ${WIDTH - 1}, texel >> 12), 0); }`;

export class Table {
    readonly uniform: { value: DataTexture };
    private data = new Float32Array(0);

    /** `texels`: how many times four numbers a row has. */
    constructor(private readonly texels: number) {
        this.uniform = { value: this.texture(1) };
    }

    private texture(lines: number): DataTexture {
        this.data = new Float32Array(4 * WIDTH * lines);
        const texture = new DataTexture(this.data, WIDTH, lines, RGBAFormat, FloatType);
        texture.minFilter = texture.magFilter = NearestFilter;
        texture.needsUpdate = true;
        return texture;
    }

    /** The numbers of `rows` rows, to be written in place. They go to the graphics processor afterwards. */
    write(rows: number): Float32Array {
        const texture = this.uniform.value;
        const needed = Math.ceil((rows * this.texels) / WIDTH);
        if (needed > texture.image.height) {
            texture.dispose();
            this.uniform.value = this.texture(Math.ceil(needed * SPARE));
        }
        this.uniform.value.needsUpdate = true;
        return this.data;
    }

    get bytes(): number {
        return this.data.byteLength;
    }
}

/** So many things with so many corners (three to a triangle), and nothing else. */
export function cornersOnly(): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.boundingSphere = new Sphere(new Vector3(), Infinity); // not asked for: nothing is left out of view
    geometry.setDrawRange(0, 0);
    return geometry;
}
