// What all shaders of this page share: uniforms for colours and for the cut, and the GLSL that reads
// them. Colours leave the shaders as the bytes of the map (no tone mapping); light is scaled so that
// a surface that faces the eye has the map's own colour. In space a shader also says where its
// surface is and which way it faces: what light and outlines (pipeline.ts) are made from.
import { DoubleSide, GLSL3, RawShaderMaterial, Vector2, Vector3, Vector4, type IUniform } from "three";
import type { Range } from "../data/fields";
import { NO_COLOUR, textureOf, type ColourMap } from "./palette";
import { TABLE_GLSL } from "./table";

type Uniforms = Record<string, IUniform>;

/** States of a grain: as it is, pale beside the selected ones, or not there. */
export const SHOWN = 0, DIMMED = 1, HIDDEN = 2;

/** Nothing is cut: the plane's equation n.x + d > 0 never holds. */
const NO_CUT = new Vector4(0, 0, 0, -1);

/** The half space n.x + d > 0 in which nothing is drawn. One for the whole scene. */
export class Cut {
    readonly uniforms: Uniforms = { uCut: { value: NO_CUT.clone() } };

    set(plane: Vector4 | undefined): void {
        (this.uniforms.uCut.value as Vector4).copy(plane ?? NO_CUT);
    }

    hides(x: number, y: number, z: number): boolean {
        const c = this.uniforms.uCut.value as Vector4;
        return c.x * x + c.y * y + c.z * z + c.w > 0;
    }
}

/** Colours of one kind of things: a map, and the range of numbers it spans. */
export class Colours {
    readonly uniforms: Uniforms = {
        uMap: { value: null },
        uRange: { value: new Vector2(0, 1) },
        uLog: { value: false },
        uCategories: { value: false },
        uNone: { value: new Vector3(...NO_COLOUR.map((c) => c / 255)) },
    };

    setMap(map: ColourMap): void {
        this.uniforms.uMap.value?.dispose();
        this.uniforms.uMap.value = textureOf(map);
        this.uniforms.uCategories.value = map.categories === true;
    }

    setRange([low, high]: Range, log: boolean): void {
        this.uniforms.uLog.value = log;
        // A single number stands in the middle of its scale.
        const [from, to] = log ? [Math.log(low), Math.log(high)] : [low, high];
        const half = to > from ? 0 : 0.5;
        (this.uniforms.uRange.value as Vector2).set(from - half, to + half);
    }
}

/** What all materials share: the number of this exposure, and the colour that pale grains fade to. */
export const COMMON: Uniforms = {
    uExposure: { value: 0 },
    uPaper: { value: new Vector3(1, 1, 1) },
};

const VERTEX_HEAD = `
precision highp float;
precision highp sampler2D;
uniform mat4 projectionMatrix, modelViewMatrix, modelMatrix;
uniform sampler2D uMap;
uniform vec2 uRange;
uniform bool uCategories, uLog;
uniform vec3 uNone, uPaper;
uniform vec4 uCut;

const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);
bool isCut(vec3 at) { return dot(uCut, modelMatrix * vec4(at, 1.0)) > 0.0; }
bool isPerspective() { return projectionMatrix[3][3] == 0.0; }
vec3 towardsEye(vec3 at) { return isPerspective() ? normalize(-at) : vec3(0.0, 0.0, 1.0); }
vec4 seen(vec3 at) { return projectionMatrix * vec4(at, 1.0); }

vec3 colourOf(float value) {
    if (isnan(value) || isinf(value)) return uNone;
    int n = textureSize(uMap, 0).x;
    float at = uLog ? log(max(value, 1e-37)) : value;
    int i = uCategories ? int(mod(floor(value + 0.5), float(n)))
        : int(255.0 * clamp((at - uRange.x) / (uRange.y - uRange.x), 0.0, 1.0) + 0.5);
    return texelFetch(uMap, ivec2(i, 0), 0).rgb;
}

vec3 dimmed(vec3 colour) { return mix(mix(colour, vec3(0.55), 0.8), uPaper, 0.62); }
${TABLE_GLSL}
`;

const FRAGMENT_HEAD = `
precision highp float;
layout(location = 0) out vec4 outColour;
#ifdef IN_SPACE
layout(location = 1) out vec4 outSurface; // normal towards the eye, distance from it
#endif
uniform int uExposure;

// A random number between 0 and 1 for each pixel, thing and exposure.
float chance(int thing) {
    uvec3 v = uvec3(uvec2(gl_FragCoord.xy), uint(thing) * 977u + uint(uExposure));
    v = v * 1664525u + 1013904223u;
    v.x += v.y * v.z; v.y += v.z * v.x; v.z += v.x * v.y;
    v ^= v >> 16u;
    v.x += v.y * v.z; v.y += v.z * v.x; v.z += v.x * v.y;
    return float(v.x >> 8u) / 16777216.0;
}

// Light from above the left shoulder. What faces the eye has its own colour.
vec3 lit(vec3 colour, vec3 normal) {
    const vec3 light = normalize(vec3(-0.35, 0.5, 1.0));
    float shade = (0.4 + 0.6 * max(dot(normal, light), 0.0)) / (0.4 + 0.6 * light.z);
    float shine = smoothstep(light.z + 0.02, 1.0, dot(normal, light));
    return mix(colour * min(shade, 1.0), vec3(1.0), 0.18 * shine);
}
`;

/** A material of this page's shaders. Plane scenes are painted in order and need no depths. */
export function shaderMaterial(vertex: string, fragment: string, uniforms: Uniforms, dim: 2 | 3): RawShaderMaterial {
    return new RawShaderMaterial({
        glslVersion: GLSL3,
        defines: dim === 3 ? { IN_SPACE: "" } : {},
        vertexShader: VERTEX_HEAD + vertex,
        fragmentShader: FRAGMENT_HEAD + fragment,
        uniforms: { ...uniforms, ...COMMON },
        side: DoubleSide,
        depthTest: dim === 3,
        depthWrite: dim === 3,
        transparent: dim === 2,
    });
}
