// Many small flat polygons in one draw call. Each corner has a copy of its polygon's numbers, instead
// of one instance for each polygon: instances of so few corners are slow on graphics processors, and
// ten times as slow where there is none and the main processor draws.
import { BufferAttribute, BufferGeometry, DynamicDrawUsage } from "three";

const SPARE = 1.25; // room for a few more, so that not every frame has new buffers

export class Sprites {
    readonly geometry = new BufferGeometry();
    count = 0;
    private room = 0;

    private readonly corners: number;

    /** `outline`: two numbers for each corner, counterclockwise. `widths`: what each polygon has. */
    constructor(private readonly outline: number[], private readonly widths: Record<string, number>) {
        this.corners = outline.length / 2;
        this.setCount(0);
    }

    setCount(count: number): void {
        this.count = count;
        if (count > this.room || this.room === 0) this.makeRoom(Math.ceil(Math.max(count, 64) * SPARE));
        this.geometry.setDrawRange(0, 3 * (this.corners - 2) * count);
    }

    private makeRoom(room: number): void {
        this.room = room;
        this.geometry.dispose(); // the buffers on the graphics processor
        const n = this.corners;
        const fan = Array.from({ length: n - 2 }, (_, k) => [0, k + 1, k + 2]).flat();
        const index = new Uint32Array(fan.length * room);
        const position = new Float32Array(3 * n * room);
        for (let i = 0; i < room; i++) {
            for (let k = 0; k < fan.length; k++) index[fan.length * i + k] = n * i + fan[k];
            for (let c = 0; c < n; c++) position.set(this.outline.slice(2 * c, 2 * c + 2), 3 * (n * i + c));
        }
        this.geometry.setIndex(new BufferAttribute(index, 1));
        this.geometry.setAttribute("position", new BufferAttribute(position, 3));
        for (const [name, width] of Object.entries(this.widths)) {
            const attribute = new BufferAttribute(new Float32Array(n * width * room), width);
            attribute.setUsage(DynamicDrawUsage);
            this.geometry.setAttribute(name, attribute);
        }
    }

    /** One row of numbers for each polygon. */
    set(name: string, data: Float32Array): void {
        const attribute = this.geometry.getAttribute(name) as BufferAttribute;
        const { itemSize: width, array } = attribute;
        const n = this.corners;
        for (let i = 0; i < this.count; i++) {
            for (let k = 0; k < width; k++) {
                const number = data[i * width + k];
                for (let c = 0; c < n; c++) array[(n * i + c) * width + k] = number;
            }
        }
        attribute.clearUpdateRanges();
        attribute.addUpdateRange(0, n * width * this.count);
        attribute.needsUpdate = true;
    }
}
