// From the scene to the picture. A picture is the mean of many exposures, each with the camera moved
// by a part of a pixel: edges become smooth, and whatever is drawn by chance (translucent grains, the
// light between them) becomes even. The first exposure is shown at once, more follow while nothing
// changes.
//
// In space an exposure has three passes: solid things with their normals and distances; light, which
// is weaker in hollows (ambient occlusion), and outlines where the distance jumps; then walls and
// lines over it. In the plane there is one.
import { AddEquation, ConstantAlphaFactor, CustomBlending, DepthTexture, FloatType, GLSL3, HalfFloatType, Mesh, NearestFilter,
         NoBlending, OneMinusConstantAlphaFactor, OrthographicCamera, PlaneGeometry, RawShaderMaterial, RGBAFormat, Scene,
         UnsignedByteType, UnsignedIntType, Vector2, WebGLRenderTarget, type Camera, type Color, type PerspectiveCamera,
         type WebGLRenderer } from "three";
import { COMMON } from "./look";

/** Layers of the scene: solid things, and what is laid over them once they have light. */
export const SOLID_LAYER = 0, OVER_LAYER = 1;

export interface LightStyle {
    shade: boolean;
    outline: boolean;
    /** A typical radius: hollows and steps of about this size count. */
    grain: number;
}

const SCREEN_VERTEX = `
precision highp float;
in vec3 position;
void main() { gl_Position = vec4(position.xy, 0.0, 1.0); }`;

const COPY_FRAGMENT = `
precision highp float;
uniform sampler2D uPicture;
out vec4 outColour;
void main() { outColour = vec4(texelFetch(uPicture, ivec2(gl_FragCoord.xy), 0).rgb, 1.0); }`;

const LIGHT_FRAGMENT = `
precision highp float;
precision highp int;
uniform sampler2D uColour, uSurface;
uniform mat4 uProjection;
uniform float uGrain;
uniform bool uShade, uOutline;
uniform int uExposure;
uniform vec2 uPixels;
uniform vec3 uPaper;
out vec4 outColour;

const int SAMPLES = 10;
const float REACH = 7.0;   // radii of a grain: how far off something still takes light away
const float DARKEST = 0.85;

bool perspective() { return uProjection[3][3] == 0.0; }

vec3 placeOf(vec2 ndc, float far) {
    vec2 shift = vec2(uProjection[perspective() ? 2 : 3][0], uProjection[perspective() ? 2 : 3][1]);
    vec2 scale = vec2(uProjection[0][0], uProjection[1][1]);
    return vec3(perspective() ? far * (ndc + shift) / scale : (ndc - shift) / scale, -far);
}

uvec3 scramble(uvec3 v) {
    v = v * 1664525u + 1013904223u;
    v.x += v.y * v.z; v.y += v.z * v.x; v.z += v.x * v.y;
    v ^= v >> 16u;
    v.x += v.y * v.z; v.y += v.z * v.x; v.z += v.x * v.y;
    return v;
}

// Which part of the light from all sides is hidden by what is near.
float occlusion(vec3 at, vec3 normal) {
    float hidden = 0.0;
    for (int i = 0; i < SAMPLES; i++) {
        vec3 u = vec3(scramble(uvec3(uvec2(gl_FragCoord.xy), uint(uExposure * SAMPLES + i))) >> 8u) / 16777216.0;
        float turn = 6.2831853 * u.x, height = 2.0 * u.y - 1.0;
        vec3 ball = vec3(sqrt(1.0 - height * height) * vec2(cos(turn), sin(turn)), height);
        vec3 to = at + uGrain * (0.06 + REACH * u.z * u.z) * normalize(normal * 1.02 + ball);
        vec4 clip = uProjection * vec4(to, 1.0);
        ivec2 pixel = ivec2((0.5 * clip.xy / clip.w + 0.5) * uPixels);
        float there = texelFetch(uSurface, clamp(pixel, ivec2(0), ivec2(uPixels) - 1), 0).w;
        float before = -to.z - there; // how far what is seen there stands before the point
        if (there > 0.0 && before > 0.02 * uGrain) hidden += smoothstep(2.0 * REACH, 0.0, before / uGrain);
    }
    return hidden / float(SAMPLES);
}

// Steps in the distance, seen from their near side. Grains of a few pixels would be nothing but edges.
float edge(ivec2 pixel, float far) {
    float radius = 0.5 * uPixels.y * uGrain * uProjection[1][1] / (perspective() ? far : 1.0); // in pixels
    float most = 0.0;
    for (int i = 0; i < 4; i++) {
        ivec2 to = pixel + ivec2(i == 0 ? 1 : i == 1 ? -1 : 0, i == 2 ? 1 : i == 3 ? -1 : 0);
        if (any(lessThan(to, ivec2(0))) || any(greaterThanEqual(to, ivec2(uPixels)))) continue;
        float there = texelFetch(uSurface, to, 0).w;
        most = max(most, there == 0.0 ? 1.0 : smoothstep(0.5, 1.6, (there - far) / uGrain));
    }
    return most * smoothstep(1.5, 6.0, radius);
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec3 colour = uPaper;
    vec4 surface = texelFetch(uSurface, pixel, 0);
    if (surface.w > 0.0) {
        colour = texelFetch(uColour, pixel, 0).rgb;
        vec3 at = placeOf(2.0 * gl_FragCoord.xy / uPixels - 1.0, surface.w);
        if (uShade) colour *= 1.0 - DARKEST * smoothstep(0.08, 0.85, occlusion(at, surface.xyz));
        if (uOutline) colour *= 1.0 - 0.5 * edge(pixel, surface.w);
    }
    outColour = vec4(colour, 1.0);
}`;

function screenMaterial(fragment: string, uniforms: Record<string, { value: unknown }>): RawShaderMaterial {
    return new RawShaderMaterial({ glslVersion: GLSL3, vertexShader: SCREEN_VERTEX, fragmentShader: fragment, uniforms,
                                   depthTest: false, depthWrite: false, blending: NoBlending });
}

/** Points between -0.5 and 0.5 that fill the square evenly (Halton); the first is the middle. */
function jitter(i: number): [number, number] {
    const halton = (n: number, base: number): number => {
        let [result, part] = [0, 1];
        for (; n > 0; n = Math.floor(n / base)) result += (n % base) * (part /= base);
        return result;
    };
    return i === 0 ? [0, 0] : [halton(i, 2) - 0.5, halton(i, 3) - 0.5];
}

export class Pipeline {
    /** Exposures that the picture consists of so far. */
    exposures = 0;
    private readonly size = new Vector2();
    private readonly solid: WebGLRenderTarget;
    private readonly lit: WebGLRenderTarget;
    private readonly sum: WebGLRenderTarget;
    private readonly light: RawShaderMaterial;
    private readonly copy: RawShaderMaterial;
    private readonly add: RawShaderMaterial;
    private readonly screen = new Mesh(new PlaneGeometry(2, 2));
    private readonly screenScene = new Scene();
    private readonly screenCamera = new OrthographicCamera();

    constructor(private readonly renderer: WebGLRenderer, private readonly dim: 2 | 3) {
        const gl = renderer.getContext();
        const float = gl.getExtension("EXT_color_buffer_float") !== null;
        const half = float || gl.getExtension("EXT_color_buffer_half_float") !== null; // phones
        const nearest = { minFilter: NearestFilter, magFilter: NearestFilter };
        const depth = dim === 3 ? new DepthTexture(1, 1, UnsignedIntType) : null;
        this.lit = new WebGLRenderTarget(1, 1, { ...nearest, depthBuffer: dim === 3, depthTexture: depth });
        this.solid = dim === 2 ? this.lit : new WebGLRenderTarget(1, 1, { ...nearest, count: 2, depthTexture: depth });
        if (dim === 3) this.solid.textures[1].type = float ? FloatType : HalfFloatType;
        this.sum = new WebGLRenderTarget(1, 1, { ...nearest, depthBuffer: false, type: half ? HalfFloatType : UnsignedByteType,
                                                 format: RGBAFormat });
        this.light = screenMaterial(LIGHT_FRAGMENT, {
            uColour: { value: this.solid.textures[0] }, uSurface: { value: this.solid.textures[1] ?? null },
            uProjection: { value: null }, uGrain: { value: 1 }, uShade: { value: true }, uOutline: { value: true },
            uPixels: { value: this.size }, uExposure: COMMON.uExposure, uPaper: COMMON.uPaper,
        });
        this.copy = screenMaterial(COPY_FRAGMENT, { uPicture: { value: this.sum.texture } });
        this.add = screenMaterial(COPY_FRAGMENT, { uPicture: { value: this.lit.texture } });
        this.add.blending = CustomBlending;
        this.add.blendEquation = AddEquation;
        this.add.blendSrc = ConstantAlphaFactor;
        this.add.blendDst = OneMinusConstantAlphaFactor;
        this.screen.frustumCulled = false;
        this.screenScene.add(this.screen);
    }

    /** Pixels of the picture. */
    setSize(width: number, height: number): void {
        if (this.size.x === width && this.size.y === height) return;
        this.size.set(width, height);
        for (const target of new Set([this.solid, this.lit, this.sum])) target.setSize(width, height);
        this.restart();
    }

    /** Something has changed: begin a new picture. */
    restart(): void {
        this.exposures = 0;
    }

    /** Add an exposure to the picture. */
    expose(scene: Scene, camera: PerspectiveCamera | OrthographicCamera, background: Color, style: LightStyle): void {
        const { renderer, size } = this;
        const [x, y] = jitter(this.exposures);
        camera.setViewOffset(size.x, size.y, x, y, size.x, size.y);
        camera.updateProjectionMatrix();
        COMMON.uExposure.value = this.exposures;
        renderer.autoClear = true;
        // Where nothing is drawn the distance, the fourth number, is 0.
        renderer.setClearColor(background, this.dim === 3 ? 0 : 1);
        if (this.dim === 2) {
            camera.layers.enableAll();
            this.render(this.lit, scene, camera);
        } else {
            camera.layers.set(SOLID_LAYER);
            this.render(this.solid, scene, camera);
            const u = this.light.uniforms;
            u.uProjection.value = camera.projectionMatrix;
            u.uGrain.value = style.grain;
            u.uShade.value = style.shade;
            u.uOutline.value = style.outline;
            renderer.autoClear = false; // both have the same depths
            this.pass(this.light, this.lit);
            camera.layers.set(OVER_LAYER);
            this.render(this.lit, scene, camera);
        }
        renderer.autoClear = false;
        this.exposures++;
        this.add.blendAlpha = 1 / this.exposures;
        this.pass(this.add, this.sum);
        camera.clearViewOffset();
        camera.updateProjectionMatrix();
    }

    private render(target: WebGLRenderTarget, scene: Scene, camera: Camera): void {
        this.renderer.setRenderTarget(target);
        this.renderer.render(scene, camera);
    }

    private pass(material: RawShaderMaterial, target: WebGLRenderTarget | null): void {
        this.screen.material = material;
        this.renderer.setRenderTarget(target);
        this.renderer.render(this.screenScene, this.screenCamera);
    }

    /** The picture onto the canvas. */
    show(): void {
        this.renderer.autoClear = false;
        this.pass(this.copy, null);
    }

    /** The picture as bytes, the upper line first. */
    read(): ImageData {
        const { x: width, y: height } = this.size;
        const target = new WebGLRenderTarget(width, height, { depthBuffer: false });
        this.pass(this.copy, target);
        const bytes = new Uint8Array(4 * width * height);
        this.renderer.readRenderTargetPixels(target, 0, 0, width, height, bytes);
        target.dispose();
        const image = new ImageData(width, height);
        for (let row = 0; row < height; row++) {
            image.data.set(bytes.subarray(4 * width * row, 4 * width * (row + 1)), 4 * width * (height - 1 - row));
        }
        return image;
    }

    get bytes(): number {
        const perPixel = this.dim === 3 ? 4 + 16 + 4 + 4 + 8 : 4 + 8;
        return this.size.x * this.size.y * perPixel;
    }

    dispose(): void {
        for (const target of new Set([this.solid, this.lit, this.sum])) target.dispose();
        for (const material of [this.light, this.copy, this.add]) material.dispose();
        this.screen.geometry.dispose();
    }
}
