// Charts of the columns of series.csv against time, each with one or several curves. Curves of
// another unit have their axis at the right. A line marks the time of the frame; a click or a drag in
// a chart moves the slider.
import uPlot from "uplot";
import { plain, shortNumber, shownUnit } from "../data/fields";
import { nearest, type Series } from "../data/series";
import type { Store } from "../settings";
import { button, cssColour, make, select, setOptions } from "./dom";
import { icon } from "./icons";

const FIRST = ["kinetic_energy", "coordination", "overlap_max"];
const NONE = "none"; // the user has removed all
const HEIGHT = 138;
const CURVES = ["#2f6db5", "#d9480f", "#2b8a3e", "#9c36b5", "#b08900", "#0b7285"];

/** A chart as it stands in the settings: columns with + between, and ~log. */
interface Plan {
    columns: string[];
    log: boolean;
}

function readPlans(text: string): Plan[] {
    return text.split(",").filter((t) => t !== "" && t !== NONE).map((t) => ({
        columns: t.replace(/~log$/, "").split("+"), log: t.endsWith("~log") }));
}

interface Chart {
    plan: Plan;
    box: HTMLElement;
    values: Map<string, HTMLElement>;
    plot: uPlot;
}

export class Charts {
    readonly element: HTMLElement;
    private readonly list = make("div", { class: "charts" });
    private readonly menu: HTMLSelectElement;
    private readonly note = make("span", { class: "note" });
    private charts: Chart[] = [];
    private plans: Plan[] = [];
    private series: Series = { names: [], columns: [], time: new Float64Array(0) };
    private units: Record<string, string> = {};
    private timeUnit = "";
    private time = 0;

    constructor(private readonly store: Store, private readonly onTime: (time: number) => void) {
        this.menu = select("add-chart", [], "", (column) => {
            if (column === "*") this.columns.forEach((c) => this.add(c));
            else if (column) this.add(column);
        });
        this.element = make("section", { class: "chart-panel" },
            make("div", { class: "chart-head" }, make("b", {}, "Series"), this.menu, this.note), this.list);
        new ResizeObserver(() => this.resize()).observe(this.list);
        store.on(["charts"], (name) => { if (name === "charts") this.takePlans(); });
    }

    setUnits(units: Record<string, string>, timeUnit: string): void {
        this.units = units;
        this.timeUnit = timeUnit;
    }

    setSeries(series: Series): void {
        const known = this.series.names.join() === series.names.join();
        this.series = series;
        this.note.textContent = series.time.length === 0 ? "no rows in series.csv yet" : "";
        if (!known) this.takePlans();
        else for (const chart of this.charts) chart.plot.setData(this.dataOf(chart.plan));
        this.setTime(this.time);
    }

    private takePlans(): void {
        const text = this.store.get("charts") || FIRST.join(",");
        this.plans = readPlans(text).map((p) => ({ ...p, columns: p.columns.filter((c) => this.columns.includes(c)) }))
            .filter((p) => p.columns.length > 0);
        this.rebuild();
    }

    /** The plans have changed: keep them among the settings. */
    private keep(): void {
        const text = this.plans.map((p) => p.columns.join("+") + (p.log ? "~log" : "")).join(",");
        this.store.set("charts", text === FIRST.join(",") ? "" : text || NONE);
        this.rebuild();
    }

    private rebuild(): void {
        for (const chart of this.charts) chart.plot.destroy();
        this.list.replaceChildren();
        this.charts = [];
        for (const plan of this.plans) this.charts.push(this.chartOf(plan));
        const shown = this.plans.flatMap((p) => p.columns);
        const options = this.columns.filter((c) => !shown.includes(c)).map((name) => ({ value: name, label: plain(name) }));
        setOptions(this.menu, [{ value: "", label: "add a chart…" }, ...options, { value: "*", label: "all of them" }], "");
        this.resize();
        this.setTime(this.time);
    }

    setTime(time: number): void {
        this.time = time;
        const row = nearest(this.series.time, time);
        for (const chart of this.charts) {
            for (const [name, output] of chart.values) {
                const column = this.columnOf(name);
                output.textContent = row >= 0 && column ? shortNumber(column[row], 5) : "";
            }
            chart.plot.redraw(false);
        }
    }

    /** Columns shown and their numbers at the time of the frame. */
    get values(): Record<string, number> {
        const row = nearest(this.series.time, this.time);
        return Object.fromEntries(this.plans.flatMap((p) => p.columns).map((c) => [c, this.columnOf(c)?.[row] ?? NaN]));
    }

    get columns(): string[] {
        return this.series.names.filter((name) => name !== "time");
    }

    add(column: string): void {
        if (!this.columns.includes(column)) throw new Error(`no column '${column}' in series.csv`);
        if (this.plans.some((p) => p.columns.includes(column))) return;
        this.plans.push({ columns: [column], log: false });
        this.keep();
    }

    /** Another curve into a chart. */
    addCurve(chart: number, column: string): void {
        const plan = this.plans[chart];
        if (!plan || !this.columns.includes(column)) throw new Error(`no chart ${chart} or no column '${column}'`);
        if (!plan.columns.includes(column)) plan.columns.push(column);
        this.keep();
    }

    private columnOf(name: string): Float64Array | undefined {
        return this.series.columns[this.series.names.indexOf(name)];
    }

    private unitOf(column: string): string {
        return shownUnit(this.units[column] ?? "");
    }

    private unitsOf(plan: Plan): string[] {
        return [...new Set(plan.columns.map((c) => this.unitOf(c)))];
    }

    // ---- one chart -----------------------------------------------------------------------------

    private chartOf(plan: Plan): Chart {
        const box = make("div", { class: "chart", "data-column": plan.columns[0] });
        const values = new Map<string, HTMLElement>();
        const chips = plan.columns.map((column, i) => {
            const value = make("output", { class: "value", "data-column": column });
            values.set(column, value);
            const dot = make("span", { class: "dot" });
            dot.style.background = this.curveColour(i, plan);
            const chip = make("span", { class: "chip" }, dot, make("span", { class: "title" }, plain(column)), value,
                              make("span", { class: "unit" }, this.unitOf(column)));
            if (plan.columns.length > 1) {
                chip.append(button(icon("close"), `remove ${plain(column)}`, () => {
                    plan.columns = plan.columns.filter((c) => c !== column);
                    this.keep();
                }));
            }
            return chip;
        });
        const more = select("", [], "", (column) => this.addCurve(this.plans.indexOf(plan), column));
        more.setAttribute("aria-label", "add a curve");
        more.className = "more";
        setOptions(more, [{ value: "", label: "+" }, ...this.fitting(plan).map((c) => ({ value: c, label: plain(c) }))], "");
        const log = button("log", "logarithmic axis", () => {
            plan.log = !plan.log;
            this.keep();
        });
        log.classList.toggle("on", plan.log);
        this.list.append(box);
        const remove = button(icon("close"), "remove this chart", () => {
            this.plans = this.plans.filter((p) => p !== plan);
            this.keep();
        });
        box.append(make("header", {}, make("span", { class: "chips" }, ...chips), make("span", { class: "tools" }, more, log, remove)));
        return { plan, box, values, plot: this.plotOf(plan, box) };
    }

    /** Columns that have room in a chart: two units are the most that its axes can tell. */
    private fitting(plan: Plan): string[] {
        const units = this.unitsOf(plan);
        return this.columns.filter((c) => !plan.columns.includes(c) && (units.length < 2 || units.includes(this.unitOf(c))));
    }

    private curveColour(i: number, plan: Plan): string {
        return plan.columns.length === 1 ? cssColour("--accent") : CURVES[i % CURVES.length];
    }

    private dataOf(plan: Plan): uPlot.AlignedData {
        const curves = plan.columns.map((name) => Array.from(this.columnOf(name) ?? [], (v) =>
            // A logarithmic axis has no place for zero and below.
            (Number.isFinite(v) && (!plan.log || v > 0) ? v : null)));
        return [this.series.time, ...curves];
    }

    private plotOf(plan: Plan, box: HTMLElement): uPlot {
        const axis = { stroke: cssColour("--soft"), grid: { stroke: cssColour("--edge"), width: 1 }, ticks: { show: false },
                       font: "11px system-ui, sans-serif", labelFont: "11px system-ui, sans-serif", labelSize: 14, labelGap: 0 };
        const numbers = (_: uPlot, splits: number[]): string[] => splits.map((v) => (v === null ? "" : shortNumber(v, 3)));
        const units = this.unitsOf(plan);
        const scale: uPlot.Scale = plan.log ? { distr: 3 } : { range: (_, low, high) => roomFor(low, high) };
        const plot = new uPlot({
            width: this.width(), height: HEIGHT, legend: { show: false }, padding: [6, units.length > 1 ? 0 : 14, 0, 0],
            cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
            scales: { x: { time: false }, ...Object.fromEntries(units.map((u) => [`in ${u}`, scale])) },
            axes: [{ ...axis, size: 22, values: numbers, label: `time${this.timeUnit ? ` (${this.timeUnit})` : ""}` },
                   ...units.map((u, i): uPlot.Axis => ({ ...axis, scale: `in ${u}`, size: 50, values: numbers, side: i === 0 ? 3 : 1,
                       label: u, labelSize: u ? 14 : 0, grid: i === 0 ? axis.grid : { show: false } }))],
            series: [{}, ...plan.columns.map((c, i): uPlot.Series => ({
                scale: `in ${this.unitOf(c)}`, stroke: this.curveColour(i, plan), width: 1.5, points: { show: false } }))],
            hooks: { draw: [(u) => this.drawTime(u)] },
        }, this.dataOf(plan), box);
        plot.over.addEventListener("pointerdown", (e) => this.scrub(plot, e));
        plot.over.addEventListener("pointermove", (e) => e.buttons === 1 && this.scrub(plot, e));
        return plot;
    }

    private scrub(plot: uPlot, event: PointerEvent): void {
        this.onTime(plot.posToVal(event.offsetX, "x"));
    }

    private drawTime(plot: uPlot): void {
        const x = Math.round(plot.valToPos(this.time, "x", true));
        const { left, top, width, height } = plot.bbox;
        if (x < left || x > left + width) return;
        plot.ctx.save();
        plot.ctx.fillStyle = cssColour("--mark");
        plot.ctx.fillRect(x - window.devicePixelRatio / 2, top, Math.max(window.devicePixelRatio, 1) * 1.5, height);
        plot.ctx.restore();
    }

    private width(): number {
        const room = this.list.clientWidth;
        const columns = Math.max(1, Math.min(this.plans.length || 1, Math.floor(room / 280)));
        return Math.max(200, Math.floor((room - 12 * (columns - 1)) / columns) - 2);
    }

    private resize(): void {
        const width = this.width();
        for (const chart of this.charts) {
            chart.box.style.width = `${width}px`;
            chart.plot.setSize({ width, height: HEIGHT });
        }
    }

    /** Colours of the page have changed. */
    restyle(): void {
        this.rebuild();
    }
}

/** Range of an axis; a column that is constant has its line in the middle. */
function roomFor(low: number | null, high: number | null): uPlot.Range.MinMax {
    if (low === null || high === null) return [0, 1];
    if (low < high) return uPlot.rangeNum(low, high, 0.1, true);
    const half = Math.abs(low) / 2 || 1;
    return [low - half, low + half];
}
