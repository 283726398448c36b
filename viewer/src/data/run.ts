// What the server (or the exported page) says about a run: the shapes of its JSON files. The arrays
// of the frames are fetched one by one, see frames.ts.

export type TableName = "grains" | "contacts" | "walls";
export type ElementType = "f64" | "f32" | "i64" | "i32" | "u8";

/** A recorded field of a table; `width` numbers in each row. */
export interface Field {
    name: string;
    type: ElementType;
    width: number;
    unit: string;
    description: string;
}

/** `contacts` is -1 where the run does not record them. The cell counts on periodic axes only. */
export interface FrameInfo {
    time: number;
    step: number;
    grains: number;
    contacts: number;
    walls: number;
    periodic: boolean[];
    cell_low: number[];
    cell_high: number[];
}

/** api/run.json */
export interface Run {
    title: string;
    version: string;
    dim: 2 | 3;
    reduced_units: boolean;
    running: boolean;
    /** Another number if another run has taken its place in the folder. */
    identity: number;
    generation: number;
    /** Of all frames; with it and their number only later ones are asked for. */
    mark: number;
    /** The number of the first of `frames`. */
    first: number;
    frames: FrameInfo[];
    fields: Record<TableName, Field[]>;
    wall_names: string[];
    /** Units of the columns of series.csv, "" for plain numbers. */
    series_units: Record<string, string>;
    export: boolean;
}

/** A row of api/shapes.json: convex parts in the frame of the body, faces counterclockwise. */
export interface Solid {
    name: string;
    radius: number;
    parts: { vertex: number[][]; faces: number[][] }[];
}

/** api/frame/N/surface.json: walls as lines (the first `lines` cells) and polygons. */
export interface Surface {
    lines: number;
    points: number[];
    cells: number[][];
    owner: number[];
}
