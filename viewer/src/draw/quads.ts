// Many four-cornered things in one draw call. Each corner has a copy of its thing's numbers, instead
// of one instance for each thing: instances of four corners are slow on graphics processors, and very
// slow where there is none and the processor draws.
import { BufferAttribute, BufferGeometry, DynamicDrawUsage } from "three";

const SPARE = 1.25; // room for a few more, so that not every frame has new buffers

export class Quads {
    readonly geometry = new BufferGeometry();
    count = 0;
    private room = 0;

    /** `corners`: two numbers for each of the four corners, counterclockwise. */
    constructor(private readonly corners: number[], private readonly widths: Record<string, number>) {
        this.setCount(0);
    }

    setCount(count: number): void {
        this.count = count;
        if (count > this.room || this.room === 0) this.makeRoom(Math.ceil(Math.max(count, 64) * SPARE));
        this.geometry.setDrawRange(0, 6 * count);
    }

    private makeRoom(room: number): void {
        this.room = room;
        this.geometry.dispose(); // the buffers on the graphics processor
        const index = new Uint32Array(6 * room);
        const position = new Float32Array(12 * room);
        for (let i = 0; i < room; i++) {
            index.set([4 * i, 4 * i + 1, 4 * i + 2, 4 * i, 4 * i + 2, 4 * i + 3], 6 * i);
            for (let c = 0; c < 4; c++) position.set([this.corners[2 * c], this.corners[2 * c + 1], 0], 12 * i + 3 * c);
        }
        this.geometry.setIndex(new BufferAttribute(index, 1));
        this.geometry.setAttribute("position", new BufferAttribute(position, 3));
        for (const [name, width] of Object.entries(this.widths)) {
            const attribute = new BufferAttribute(new Float32Array(4 * width * room), width);
            attribute.setUsage(DynamicDrawUsage);
            this.geometry.setAttribute(name, attribute);
        }
    }

    /** One row of numbers for each thing. */
    set(name: string, data: Float32Array): void {
        const attribute = this.geometry.getAttribute(name) as BufferAttribute;
        const { itemSize: width, array } = attribute;
        for (let i = 0; i < this.count; i++) {
            for (let k = 0; k < width; k++) {
                const number = data[i * width + k];
                for (let c = 0; c < 4; c++) array[(4 * i + c) * width + k] = number;
            }
        }
        attribute.clearUpdateRanges();
        attribute.addUpdateRange(0, 4 * width * this.count);
        attribute.needsUpdate = true;
    }
}
