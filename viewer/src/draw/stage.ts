// The canvas: renderer, camera and its controls. Nothing is drawn unless something has changed.
// Plane runs are seen from above, in parallel projection, and can be moved and zoomed only.
import { Box3, Color, MOUSE, OrthographicCamera, PerspectiveCamera, Raycaster, Scene, Sphere, TOUCH, Vector2,
         Vector3, WebGLRenderer, type Ray } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

export type View = "x" | "y" | "z" | "iso";

const DIRECTIONS: Record<View, Vector3> = {
    x: new Vector3(1, 0, 0),
    y: new Vector3(0, -1, 0),
    z: new Vector3(0, 0, 1),
    iso: new Vector3(1, -1.4, 0.8).normalize(),
};
const FIELD = 35; // degrees, of the perspective camera
const MANY = 30000; // grains
const SLOW = 80; // ms between drawings, beyond which the picture is coarser while the camera moves
const COARSE = 0.5;
const REST = 250; // ms after the last move

export class Stage {
    readonly scene = new Scene();
    readonly renderer: WebGLRenderer;
    /** Called after each drawing, to put things of the page in their place. */
    onDrawn: () => void = () => {};
    private camera: PerspectiveCamera | OrthographicCamera;
    private controls: OrbitControls;
    private readonly bounds = new Sphere(new Vector3(), 1);
    private waiting = false;
    private fineness = 1;
    private restTimer = 0;
    private movedAt = 0;

    /** With many grains the edges are not smoothed: each is small, and smoothing takes twice the time. */
    constructor(private readonly canvas: HTMLCanvasElement, readonly dim: 2 | 3, grains: number) {
        this.renderer = new WebGLRenderer({ canvas, antialias: grains <= MANY });
        this.renderer.localClippingEnabled = true;
        this.camera = this.makeCamera(dim === 3);
        this.controls = this.makeControls();
        new ResizeObserver(() => this.resize()).observe(canvas.parentElement ?? canvas);
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
        controls.addEventListener("change", () => this.move());
        return controls;
    }

    /** The camera moves; it is at rest when that was not said for a while. */
    private move(): void {
        clearTimeout(this.restTimer);
        this.restTimer = window.setTimeout(() => this.settle(), REST);
        this.invalidate();
    }

    /** The camera is at rest. */
    settle(): void {
        clearTimeout(this.restTimer);
        this.restTimer = this.movedAt = 0;
        this.setFineness(1);
    }

    get atRest(): boolean {
        return this.restTimer === 0;
    }

    /** Coarser while the camera moves and drawings come slowly; fine again at rest. */
    private watchPace(): void {
        if (this.restTimer === 0) return;
        const now = performance.now();
        if (this.movedAt > 0 && now - this.movedAt > SLOW) this.setFineness(COARSE);
        this.movedAt = now;
    }

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
        const target = this.controls.target.clone();
        const height = this.visibleHeight();
        const direction = this.camera.position.clone().sub(target).normalize();
        this.controls.dispose();
        this.camera = this.makeCamera(on);
        this.camera.position.copy(target).addScaledVector(direction, 1);
        this.controls = this.makeControls();
        this.look(target, direction, height);
    }

    setBackground(colour: string): void {
        this.scene.background = new Color().setStyle(colour);
        this.invalidate();
    }

    /** What is there to see; says how far the camera must reach. */
    setBounds(box: Box3): void {
        box.getBoundingSphere(this.bounds);
        if (!(this.bounds.radius > 0)) this.bounds.set(new Vector3(), 1);
        this.invalidate();
    }

    /** Look from a side at everything, or (without `view`) from where the camera is. */
    fit(box: Box3, view?: View): void {
        if (box.isEmpty()) box = new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
        const direction = this.dim === 2 ? DIRECTIONS.z.clone()
            : view ? DIRECTIONS[view].clone() : this.camera.position.clone().sub(this.controls.target).normalize();
        const centre = box.getCenter(new Vector3());
        this.look(centre, direction, 1.08 * this.heightNeeded(box, direction));
    }

    /** Height of the picture, at the centre, in which the box has room. */
    private heightNeeded(box: Box3, direction: Vector3): number {
        const right = new Vector3().crossVectors(this.camera.up, direction);
        if (right.lengthSq() < 1e-6) right.set(1, 0, 0);
        right.normalize();
        const up = new Vector3().crossVectors(direction, right);
        const half = box.getSize(new Vector3()).multiplyScalar(0.5);
        const extent = (axis: Vector3): number =>
            Math.abs(axis.x) * half.x + Math.abs(axis.y) * half.y + Math.abs(axis.z) * half.z;
        const height = 2 * Math.max(extent(up), extent(right) / this.aspect());
        // In perspective what is nearer is larger: leave room for the near side of the box.
        return this.perspective ? height + 2 * extent(direction) * Math.tan((FIELD * Math.PI) / 360) : height;
    }

    private look(target: Vector3, direction: Vector3, height: number): void {
        const distance = height / 2 / Math.tan((FIELD * Math.PI) / 360);
        this.controls.target.copy(target);
        this.camera.position.copy(target).addScaledVector(direction, distance);
        if (this.camera instanceof OrthographicCamera) {
            this.camera.zoom = 1;
            this.camera.top = height / 2;
            this.camera.bottom = -height / 2;
        }
        this.controls.update();
        this.resize();
    }

    private visibleHeight(): number {
        if (this.camera instanceof OrthographicCamera) return (this.camera.top - this.camera.bottom) / this.camera.zoom;
        return 2 * this.camera.position.distanceTo(this.controls.target) * Math.tan((FIELD * Math.PI) / 360);
    }

    private aspect(): number {
        return this.canvas.clientWidth / Math.max(this.canvas.clientHeight, 1) || 1;
    }

    private resize(): void {
        const { clientWidth: width, clientHeight: height } = this.canvas;
        this.renderer.setPixelRatio(window.devicePixelRatio * this.fineness);
        this.renderer.setSize(width, height, false);
        if (this.camera instanceof OrthographicCamera) {
            this.camera.right = this.camera.top * this.aspect();
            this.camera.left = -this.camera.right;
        } else {
            this.camera.aspect = this.aspect();
        }
        this.invalidate();
    }

    /** Draw soon. */
    invalidate(): void {
        if (this.waiting) return;
        this.waiting = true;
        requestAnimationFrame(() => {
            this.waiting = false;
            this.watchPace();
            this.draw();
        });
    }

    draw(): void {
        const depth = this.camera.position.distanceTo(this.bounds.center);
        const reach = 1.01 * this.bounds.radius;
        this.camera.near = this.perspective ? Math.max(depth - reach, 1e-3 * (depth + reach)) : depth - reach;
        this.camera.far = Math.max(depth + reach, this.camera.near * 2);
        this.camera.updateProjectionMatrix();
        this.renderer.render(this.scene, this.camera);
        this.onDrawn();
    }

    /** The line of sight through a point of the canvas (pixels from its top left). */
    rayThrough(x: number, y: number): Ray {
        const caster = new Raycaster();
        const at = new Vector2((2 * x) / this.canvas.clientWidth - 1, 1 - (2 * y) / this.canvas.clientHeight);
        this.camera.updateMatrixWorld();
        caster.setFromCamera(at, this.camera);
        return caster.ray;
    }

    /** Where a ball is on the canvas, in pixels from its top left. */
    screenOf(centre: Vector3, radius: number): { x: number; y: number; radius: number } {
        this.camera.updateMatrixWorld();
        const at = centre.clone().project(this.camera);
        const depth = this.camera.position.distanceTo(centre);
        const visible = this.camera instanceof OrthographicCamera ? this.visibleHeight()
            : 2 * depth * Math.tan((FIELD * Math.PI) / 360);
        const { clientWidth: width, clientHeight: height } = this.canvas;
        return { x: ((at.x + 1) / 2) * width, y: ((1 - at.y) / 2) * height, radius: (radius * height) / visible };
    }

    /** Turn the camera about the vertical by an angle in radians. */
    turn(angle: number): void {
        const arm = this.camera.position.clone().sub(this.controls.target).applyAxisAngle(this.camera.up, angle);
        this.camera.position.copy(this.controls.target).add(arm);
        this.controls.update();
    }

    /** Wait until all drawing is done: reading a pixel back takes that long. */
    finish(): void {
        const gl = this.renderer.getContext();
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    }

    get cameraState(): { position: Vector3; target: Vector3; perspective: boolean; height: number } {
        return {
            position: this.camera.position.clone(), target: this.controls.target.clone(),
            perspective: this.perspective, height: this.visibleHeight(),
        };
    }
}
