// What all shaders of this page share: uniforms for colours and for the cut, and the GLSL that reads
// them. Colours leave the shaders as the bytes of the map (no tone mapping); light is scaled so that
// a surface that faces the eye has the map's own colour.
import { CustomBlending, DoubleSide, GLSL3, NormalBlending, OneFactor, RawShaderMaterial, Vector2, Vector3, Vector4,
         ZeroFactor, type IUniform } from "three";
import type { Range } from "../data/fields";
import { NO_COLOUR, textureOf, type ColourMap } from "./palette";

type Uniforms = Record<string, IUniform>;

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
        uCategories: { value: 0 },
        uNone: { value: new Vector3(...NO_COLOUR.map((c) => c / 255)) },
    };

    setMap(map: ColourMap): void {
        this.uniforms.uMap.value?.dispose();
        this.uniforms.uMap.value = textureOf(map);
        this.uniforms.uCategories.value = map.categories ? map.stops.length : 0;
    }

    setRange([low, high]: Range): void {
        // A single number stands in the middle of its scale.
        const half = high > low ? 0 : 0.5;
        (this.uniforms.uRange.value as Vector2).set(low - half, high + half);
    }
}

export const VERTEX_HEAD = `
precision highp float;
uniform mat4 projectionMatrix, modelViewMatrix;
uniform sampler2D uMap;
uniform vec2 uRange;
uniform float uCategories;
uniform vec3 uNone;
uniform vec4 uCut;
in vec3 position;

const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);
bool isCut(vec3 at) { return dot(uCut, vec4(at, 1.0)) > 0.0; }
bool isPerspective() { return projectionMatrix[3][3] == 0.0; }
vec3 towardsEye(vec3 at) { return isPerspective() ? normalize(-at) : vec3(0.0, 0.0, 1.0); }

vec3 colourOf(float value) {
    if (isnan(value) || isinf(value)) return uNone;
    float u = (mod(floor(value + 0.5), max(uCategories, 1.0)) + 0.5) / max(uCategories, 1.0);
    if (uCategories == 0.0) {
        u = (255.0 * clamp((value - uRange.x) / (uRange.y - uRange.x), 0.0, 1.0) + 0.5) / 256.0;
    }
    return texture(uMap, vec2(u, 0.5)).rgb;
}`;

export const FRAGMENT_HEAD = `
precision highp float;
out vec4 outColour;

// Light from above the left shoulder. What faces the eye has its own colour.
vec3 lit(vec3 colour, vec3 normal) {
    const vec3 light = normalize(vec3(-0.35, 0.5, 1.0));
    float shade = (0.35 + 0.65 * max(dot(normal, light), 0.0)) / (0.35 + 0.65 * light.z);
    float shine = smoothstep(light.z + 0.02, 1.0, dot(normal, light));
    return mix(colour * min(shade, 1.0), vec3(1.0), 0.22 * shine);
}`;

/** A material of this page's shaders. Plane scenes are painted in order and need no depths. */
export function shaderMaterial(vertex: string, fragment: string, uniforms: Uniforms, dim: 2 | 3): RawShaderMaterial {
    return new RawShaderMaterial({
        glslVersion: GLSL3,
        vertexShader: VERTEX_HEAD + vertex,
        fragmentShader: FRAGMENT_HEAD + fragment,
        uniforms,
        side: DoubleSide,
        depthTest: dim === 3,
        depthWrite: dim === 3,
        transparent: dim === 2,
    });
}

/** Solid things write depths and have smooth edges by coverage; translucent ones are blended. */
export function setTranslucent(material: RawShaderMaterial, opacity: number, dim: 2 | 3): void {
    if (dim === 2) return;
    material.transparent = opacity < 1;
    material.depthWrite = opacity >= 1;
    material.alphaToCoverage = opacity >= 1;
    // Coverage is meant for the samples only: the picture itself stays opaque.
    material.blending = opacity >= 1 ? CustomBlending : NormalBlending;
    material.blendSrc = OneFactor;
    material.blendDst = ZeroFactor;
    material.blendSrcAlpha = material.blendDstAlpha = OneFactor;
    material.needsUpdate = true;
}
