// The canvas: renderer, camera and its controls. Nothing is drawn unless something has changed; then
// the picture is refined for a moment (pipeline.ts). Plane runs are seen from above, in parallel
// projection, and can be moved and zoomed only.
import { Box3, Color, ColorManagement, LinearSRGBColorSpace, MOUSE, OrthographicCamera, PerspectiveCamera, Raycaster, Scene,
         Sphere, TOUCH, Vector2, Vector3, WebGLRenderer, type Ray } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { COMMON } from "./look";
import { Pipeline, type LightStyle } from "./pipeline";

export type View = "x" | "y" | "z" | "iso";

const DIRECTIONS: Record<View, Vector3> = {
    x: new Vector3(1, 0, 0),
    y: new Vector3(0, -1, 0),
    z: new Vector3(0, 0, 1),
    iso: new Vector3(1, -1.5, 0.75).normalize(),
};
const FIELD = 30; // degrees, of the perspective camera
const HALF = Math.tan((FIELD * Math.PI) / 360);
const SLOW = 80; // ms between drawings, beyond which the picture is coarser while the camera moves
const COARSE = 0.5;
const REST = 250; // ms after the last move
const EXPOSURES = 32; // of a picture at rest
const FEWEST = 5; // ... where drawing is slow
const PATIENCE = 1500; // ms: how long refining may take
const BURST = 4; // exposures at once, where drawing is quick

/** Parts of the canvas, in pixels at each side, that should stay free of grains. */
export interface Margins { left: number; right: number; top: number; bottom: number }

export class Stage {
    readonly scene = new Scene();
    readonly renderer: WebGLRenderer;
    readonly style: LightStyle = { shade: true, outline: true, grain: 1 };
    margins: Margins = { left: 20, right: 20, top: 20, bottom: 20 };
    /** Called when what is seen has changed, to put things of the page in their place. */
    onDrawn: () => void = () => {};
    /** Called when the user has moved the camera and it is at rest. */
    onMoved: () => void = () => {};
    /** Called when the canvas has another size. */
    onResized: () => void = () => {};
    private camera: PerspectiveCamera | OrthographicCamera;
    private controls: OrbitControls;
    private readonly pipeline: Pipeline;
    private readonly background = new Color(1, 1, 1);
    private readonly bounds = new Sphere(new Vector3(), 1);
    private waiting = false;
    private fineness = 1;
    private restTimer = 0;
    private movedByUser = false;
    private drawnAt = 0;
    private pace = 16; // ms from one drawing to the next
    private burst = 1; // exposures of a drawing

    constructor(private readonly canvas: HTMLCanvasElement, readonly dim: 2 | 3) {
        ColorManagement.enabled = false; // colours are bytes of the screen throughout
        this.renderer = new WebGLRenderer({ canvas, antialias: false, depth: false });
        this.renderer.outputColorSpace = LinearSRGBColorSpace;
        this.renderer.localClippingEnabled = true;
        this.renderer.info.autoReset = false;
        this.pipeline = new Pipeline(this.renderer, dim);
        this.camera = this.makeCamera(dim === 3);
        this.controls = this.makeControls();
        new ResizeObserver(() => {
            this.resize();
            this.onResized();
        }).observe(canvas.parentElement ?? canvas);
        canvas.addEventListener("webglcontextrestored", () => this.invalidate());
        this.resize();
    }

    private makeCamera(perspective: boolean): PerspectiveCamera | OrthographicCamera {
        const camera = perspective ? new PerspectiveCamera(FIELD) : new OrthographicCamera();
        camera.up.set(0, this.dim === 2 ? 1 : 0, this.dim === 2 ? 0 : 1);
        camera.position.copy(this.dim === 2 ? DIRECTIONS.z : DIRECTIONS.iso);
        return camera;
    }

    private makeControls(): OrbitControls {
        const controls = new OrbitControls(this.camera, this.canvas);
        controls.zoomToCursor = true;
        if (this.dim === 2) {
            controls.enableRotate = false;
            controls.mouseButtons = { LEFT: MOUSE.PAN, MIDDLE: MOUSE.DOLLY, RIGHT: MOUSE.PAN };
            controls.touches = { ONE: TOUCH.PAN, TWO: TOUCH.DOLLY_PAN };
        }
        let held = false; // by the user
        controls.addEventListener("start", () => { held = true; });
        controls.addEventListener("end", () => { held = false; });
        controls.addEventListener("change", () => {
            this.movedByUser ||= held;
            this.move();
        });
        return controls;
    }

    // ---- the camera --------------------------------------------------------------------------

    /** The camera moves; it is at rest when that was not said for a while. */
    private move(): void {
        clearTimeout(this.restTimer);
        this.restTimer = window.setTimeout(() => {
            this.settle();
            if (this.movedByUser) this.onMoved();
            this.movedByUser = false;
        }, REST);
        this.invalidate();
    }

    private settle(): void {
        clearTimeout(this.restTimer);
        this.restTimer = 0;
        this.setFineness(1);
        this.wait(); // the picture becomes finer now
    }

    /** Coarser while the camera moves and drawings come slowly; fine again at rest. */
    private setFineness(fineness: number): void {
        if (fineness === this.fineness) return;
        this.fineness = fineness;
        this.resize();
    }

    get perspective(): boolean {
        return this.camera instanceof PerspectiveCamera;
    }

    /** Perspective or parallel projection, the same things in sight. Plane runs stay parallel. */
    setPerspective(on: boolean): void {
        if (this.dim === 2 || on === this.perspective) return;
        const { target, direction, height } = this.cameraState;
        this.controls.dispose();
        this.camera = this.makeCamera(on);
        this.camera.position.copy(target).add(direction);
        this.controls = this.makeControls();
        this.look(target, direction, height);
    }

    setBackground(colour: string): void {
        this.background.setStyle(colour);
        (COMMON.uPaper.value as Vector3).set(this.background.r, this.background.g, this.background.b);
        this.invalidate();
    }

    /** What is there to see; says how far the camera must reach. */
    setBounds(box: Box3): void {
        box.getBoundingSphere(this.bounds);
        if (!(this.bounds.radius > 0)) this.bounds.set(new Vector3(), 1);
        this.invalidate();
    }

    /** Look at all these points, from a side or (without `view`) from where the camera is. */
    fit(points: Vector3[], view?: View): void {
        const direction = this.dim === 2 ? DIRECTIONS.z.clone() : view ? DIRECTIONS[view].clone() : this.cameraState.direction;
        const { right, up } = axesOf(direction, this.camera.up);
        const centre = new Box3().setFromPoints(points).getCenter(new Vector3());
        const { left, right: rightMargin, top, bottom } = this.margins;
        const [width, height] = [this.canvas.clientWidth || 1, this.canvas.clientHeight || 1];
        // Tangents of the angles within which all points must be seen.
        const free = (margin: number, length: number): number => Math.max(1 - (2 * margin) / length, 0.1) * HALF * (length / height);
        const x = balance(points, centre, right, direction, free(left, width), free(rightMargin, width), this.perspective);
        const y = balance(points, centre, up, direction, free(bottom, height), free(top, height), this.perspective);
        const distance = Math.max(x.distance, y.distance) || 1;
        this.look(centre.addScaledVector(right, x.shift).addScaledVector(up, y.shift), direction, 2 * distance * HALF);
    }

    private look(target: Vector3, direction: Vector3, height: number): void {
        this.controls.target.copy(target);
        this.camera.position.copy(target).addScaledVector(direction, height / 2 / HALF);
        if (this.camera instanceof OrthographicCamera) {
            this.camera.zoom = 1;
            this.camera.top = height / 2;
            this.camera.bottom = -height / 2;
        }
        this.controls.update();
        this.resize();
    }

    /** Height of what is seen at the target. */
    private visibleHeight(): number {
        if (this.camera instanceof OrthographicCamera) return (this.camera.top - this.camera.bottom) / this.camera.zoom;
        return 2 * this.camera.position.distanceTo(this.controls.target) * HALF;
    }

    get cameraState(): { position: Vector3; target: Vector3; direction: Vector3; perspective: boolean; height: number } {
        const { position } = this.camera;
        const { target } = this.controls;
        return { position: position.clone(), target: target.clone(), direction: position.clone().sub(target).normalize(),
                 perspective: this.perspective, height: this.visibleHeight() };
    }

    /** Put the camera back where `cameraState` said it was. */
    setCamera(position: Vector3, target: Vector3, height: number): void {
        const direction = position.clone().sub(target);
        if (direction.lengthSq() > 0 && height > 0) this.look(target, direction.normalize(), height);
    }

    /** Right, up and towards the eye, in the coordinates of the scene. */
    get axes(): { right: Vector3; up: Vector3; direction: Vector3 } {
        const { direction } = this.cameraState;
        return { ...axesOf(direction, this.camera.up), direction };
    }

    /** Turn the camera about the vertical by an angle in radians. */
    turn(angle: number): void {
        const arm = this.camera.position.clone().sub(this.controls.target).applyAxisAngle(this.camera.up, angle);
        this.camera.position.copy(this.controls.target).add(arm);
        this.controls.update();
    }

    // ---- drawing -----------------------------------------------------------------------------

    private resize(): void {
        const { clientWidth: width, clientHeight: height } = this.canvas;
        this.renderer.setPixelRatio(window.devicePixelRatio * this.fineness);
        this.renderer.setSize(width, height, false);
        this.pipeline.setSize(Math.max(this.canvas.width, 1), Math.max(this.canvas.height, 1));
        this.setAspect(width / Math.max(height, 1) || 1);
        this.invalidate();
    }

    private setAspect(aspect: number): void {
        if (this.camera instanceof OrthographicCamera) {
            this.camera.right = this.camera.top * aspect;
            this.camera.left = -this.camera.right;
        } else {
            this.camera.aspect = aspect;
        }
    }

    /** Something has changed: draw anew, soon. */
    invalidate(): void {
        this.pipeline.restart();
        this.wait();
    }

    private wait(): void {
        if (this.waiting) return;
        this.waiting = true;
        requestAnimationFrame(() => {
            this.waiting = false;
            const now = performance.now();
            const since = now - this.drawnAt;
            // The time since a picture that was done long ago tells nothing.
            if (this.pipeline.exposures > 0 || since < 1000) this.pace += 0.3 * (Math.min(since, 3000) - this.pace);
            this.drawnAt = now;
            if (this.pace < 20) this.burst = Math.min(this.burst + 1, BURST);
            else if (this.pace > 28) this.burst = 1;
            if (this.restTimer !== 0 && this.pace > SLOW) this.setFineness(COARSE);
            this.draw();
            if (this.pipeline.exposures < this.wanted) this.wait();
        });
    }

    /** Exposures of a picture: many, unless the machine draws slowly or the camera moves. */
    private get wanted(): number {
        return this.restTimer !== 0 ? 1 : this.exposuresWithin(PATIENCE);
    }

    private exposuresWithin(time: number): number {
        return Math.min(Math.max(Math.round((this.burst * time) / this.pace), FEWEST), EXPOSURES);
    }

    /** The camera does not move and the picture is as fine as it gets. */
    get atRest(): boolean {
        return this.restTimer === 0 && !this.waiting && this.pipeline.exposures >= this.wanted;
    }

    draw(): void {
        const first = this.pipeline.exposures === 0;
        for (let i = 0; i < this.burst; i++) {
            this.renderer.info.reset();
            this.expose(this.pipeline, this.fineness === 1 && this.style.shade);
        }
        this.pipeline.show();
        if (first) this.onDrawn();
    }

    private expose(pipeline: Pipeline, shade = this.style.shade): void {
        const depth = this.camera.position.distanceTo(this.bounds.center);
        const reach = 1.01 * this.bounds.radius;
        this.camera.near = this.perspective ? Math.max(depth - reach, 1e-3 * (depth + reach)) : depth - reach;
        this.camera.far = Math.max(depth + reach, this.camera.near + reach);
        pipeline.expose(this.scene, this.camera, this.background, { ...this.style, shade });
    }

    /** The same view as a picture of any size; at least what is seen now is on it. */
    capture(width: number, height: number): ImageData {
        const exposures = this.exposuresWithin(4 * PATIENCE);
        const pipeline = new Pipeline(this.renderer, this.dim);
        pipeline.setSize(width, height);
        const { zoom } = this.camera;
        const aspect = this.canvas.clientWidth / this.canvas.clientHeight;
        this.setAspect(width / height);
        this.camera.zoom = zoom * Math.min(width / height / aspect, 1);
        for (let i = 0; i < exposures; i++) this.expose(pipeline);
        const image = pipeline.read();
        pipeline.dispose();
        this.camera.zoom = zoom;
        this.setAspect(aspect);
        this.renderer.setRenderTarget(null);
        this.invalidate();
        return image;
    }

    /** Wait until all drawing is done: reading a pixel back takes that long. */
    finish(): void {
        const gl = this.renderer.getContext();
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    }

    /** Draw calls and triangles of an exposure, exposures of this picture, bytes of its layers. */
    get work(): { calls: number; triangles: number; exposures: number; bytes: number; pace: number } {
        const { calls, triangles } = this.renderer.info.render;
        return { calls, triangles, exposures: this.pipeline.exposures, bytes: this.pipeline.bytes, pace: this.pace };
    }

    /** Largest picture, in pixels along a side. */
    get largest(): number {
        return this.renderer.capabilities.maxTextureSize;
    }

    // ---- where things are --------------------------------------------------------------------

    /** The line of sight through a point of the canvas (pixels from its top left). */
    rayThrough(x: number, y: number): Ray {
        const caster = new Raycaster();
        const at = new Vector2((2 * x) / this.canvas.clientWidth - 1, 1 - (2 * y) / this.canvas.clientHeight);
        this.camera.updateMatrixWorld();
        this.camera.updateProjectionMatrix();
        caster.setFromCamera(at, this.camera);
        return caster.ray;
    }

    /** Where a ball is on the canvas, in pixels from its top left. */
    screenOf(centre: Vector3, radius: number): { x: number; y: number; radius: number } {
        this.camera.updateMatrixWorld();
        const at = centre.clone().project(this.camera);
        const depth = this.camera.position.distanceTo(centre);
        const visible = this.camera instanceof OrthographicCamera ? this.visibleHeight() : 2 * depth * HALF;
        const { clientWidth: width, clientHeight: height } = this.canvas;
        return { x: ((at.x + 1) / 2) * width, y: ((1 - at.y) / 2) * height, radius: (radius * height) / visible };
    }
}

function axesOf(direction: Vector3, vertical: Vector3): { right: Vector3; up: Vector3 } {
    const right = new Vector3().crossVectors(vertical, direction);
    if (right.lengthSq() < 1e-6) right.set(1, 0, 0);
    right.normalize();
    return { right, up: new Vector3().crossVectors(direction, right) };
}

/** The least distance of the eye, and how far aside of the centre it must be, so that all points are
 *  within two angles of the line of sight, given as tangents for the lesser and the greater side. */
function balance(points: Vector3[], centre: Vector3, axis: Vector3, direction: Vector3, less: number, more: number,
                 perspective: boolean): { distance: number; shift: number } {
    let [high, low] = [-Infinity, -Infinity];
    const p = new Vector3();
    for (const point of points) {
        p.subVectors(point, centre);
        const [x, z] = [p.dot(axis), perspective ? p.dot(direction) : 0];
        high = Math.max(high, z + x / more);
        low = Math.max(low, z - x / less);
    }
    if (!Number.isFinite(high) || !Number.isFinite(low)) return { distance: 1, shift: 0 };
    const shift = (high - low) / (1 / more + 1 / less);
    return { distance: high - shift / more, shift };
}
