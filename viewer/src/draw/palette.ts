// Colour maps: tables of a few colours, interpolated to 256. Viridis and inferno after Smith and van
// der Walt, the diverging one after Moreland (2009), the categories after Okabe and Ito.
import { DataTexture, RGBAFormat } from "three";
import type { Range } from "../data/fields";
import { placeOn } from "../data/scale";

export interface ColourMap {
    name: string;
    /** sRGB bytes, from low to high. */
    stops: [number, number, number][];
    /** Diverging: automatic scales are symmetric about zero where the numbers have both signs. */
    diverging?: boolean;
    /** One colour for each whole number, over and over. */
    categories?: boolean;
}

export const COLOUR_MAPS: ColourMap[] = [
    { name: "viridis", stops: hex("440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725") },
    { name: "inferno", stops: hex("000004 160b39 420a68 6a176e 932667 bc3754 dd513a f37819 fca50a f6d746 fcffa4") },
    { name: "blue to red", diverging: true,
      stops: hex("3b4cc0 5977e3 7b9ff9 9ebeff c0d4f5 dddcdc f2cbb7 f7ac8e ee8468 d65244 b40426") },
    { name: "rainbow (turbo)", stops: hex("30123b 4458cb 3e9bfe 18d7cb 46f884 a2fc3c e1dd37 fea531 ef5a11 c42502 7a0403") },
    { name: "grey", stops: hex("2b2f36 e9ebee") },
    { name: "categories", categories: true,
      stops: hex("0072b2 e69f00 009e73 d55e00 56b4e9 cc79a7 f0e442 7f7f7f") },
];

/** Grains without a number. */
export const NO_COLOUR: [number, number, number] = [176, 181, 189];

function hex(words: string): [number, number, number][] {
    return words.split(" ").map((w) => [0, 2, 4].map((i) => parseInt(w.slice(i, i + 2), 16)) as [number, number, number]);
}

/** The map as 256 colours, or as many as it has categories; RGBA bytes. */
export function tableOf(map: ColourMap): Uint8Array {
    const size = map.categories ? map.stops.length : 256;
    const table = new Uint8Array(4 * size);
    for (let i = 0; i < size; i++) {
        const at = map.categories ? i : (i / (size - 1)) * (map.stops.length - 1);
        const left = Math.min(Math.floor(at), map.stops.length - 1);
        const right = Math.min(left + 1, map.stops.length - 1);
        for (let c = 0; c < 3; c++) {
            const low = map.stops[left][c];
            table[4 * i + c] = Math.round(low + (at - left) * (map.stops[right][c] - low));
        }
        table[4 * i + 3] = 255;
    }
    return table;
}

export function textureOf(map: ColourMap): DataTexture {
    const table = tableOf(map);
    const texture = new DataTexture(table, table.length / 4, 1, RGBAFormat);
    texture.needsUpdate = true;
    return texture;
}

/** The colour that the shaders give to a number, as bytes. */
export function colourOf(map: ColourMap, range: Range, log: boolean, value: number): [number, number, number] {
    if (!Number.isFinite(value)) return NO_COLOUR;
    const table = tableOf(map);
    const size = table.length / 4;
    const at = map.categories
        ? ((Math.round(value) % size) + size) % size
        : Math.round(255 * placeOn(range, log, value));
    return [table[4 * at], table[4 * at + 1], table[4 * at + 2]];
}
