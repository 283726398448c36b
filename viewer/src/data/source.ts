// Where the data come from: the server of `talus view`, or the page itself if it was exported. Both
// know the same paths (api/...), so the rest of the page does not see the difference.
import type { ElementType } from "./run";

/** Something the user must read: what could not be had, and why. */
export class DataError extends Error {
    /** `passing`: it may be there in a moment. */
    constructor(text: string, readonly passing = false) {
        super(text);
    }
}

export interface Source {
    json<T>(path: string): Promise<T>;
    text(path: string): Promise<string>;
    /** An array of numbers; i64 comes as doubles, exact up to 2^53. */
    array(path: string, type: ElementType): Promise<Numbers>;
}

export type Numbers = Float64Array | Float32Array | Int32Array | Uint8Array;

/** The source of this page: what was exported into it, or else its server. */
export function openSource(): Source {
    const inside = document.getElementById("talus-data");
    return inside ? exported(inside.textContent ?? "") : served();
}

function served(): Source {
    let run: string | null = null;
    const get = async (path: string): Promise<Response> => {
        let answer: Response;
        try {
            answer = await fetch(path);
        } catch {
            throw new DataError("The server does not answer. Is `talus view` still running?");
        }
        if (!answer.ok) {
            const why = (await answer.text()).trim() || answer.statusText;
            throw new DataError(`${path}: ${why}`, answer.status === 503);
        }
        // Another run has taken the place of this one: nothing that the page has is true any more.
        const now = answer.headers.get("X-Talus-Run");
        if (run !== null && now !== run) {
            location.reload();
            return new Promise(() => {});
        }
        run = now;
        return answer;
    };
    return {
        json: async <T>(path: string) => (await (await get(path)).json()) as T,
        text: async (path) => (await get(path)).text(),
        array: async (path, type) => decode(await (await get(path)).arrayBuffer(), type),
    };
}

interface PackedArray {
    type: ElementType;
    data: string;
}

function exported(text: string): Source {
    const files = JSON.parse(text) as Record<string, unknown>;
    const take = (path: string): unknown => {
        if (!(path in files)) throw new DataError(`${path} is not in this exported page.`);
        return files[path];
    };
    return {
        json: async <T>(path: string) => take(path) as T,
        text: async (path) => take(path) as string,
        array: async (path) => {
            const packed = take(path) as PackedArray;
            return decode(await inflate(packed.data), packed.type);
        },
    };
}

async function inflate(base64: string): Promise<ArrayBuffer> {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
}

function decode(buffer: ArrayBuffer, type: ElementType): Numbers {
    switch (type) {
        case "f64": return new Float64Array(buffer);
        case "f32": return new Float32Array(buffer);
        case "i32": return new Int32Array(buffer);
        case "u8": return new Uint8Array(buffer);
        case "i64": return Float64Array.from(new BigInt64Array(buffer), Number);
    }
}
