// Charts of the columns of series.csv against time. A line marks the time of the frame; a click or a
// drag in a chart moves the slider. Any number of charts, any column, linear or logarithmic.
import uPlot from "uplot";
import { plain, shortNumber } from "../data/fields";
import { nearest, type Series } from "../data/series";
import { button, make, select, setOptions } from "./dom";

const FIRST = ["kinetic_energy", "coordination", "overlap_max"];
const HEIGHT = 150;

interface Chart {
    column: string;
    box: HTMLElement;
    value: HTMLElement;
    plot: uPlot;
    log: boolean;
}

export class Charts {
    readonly element: HTMLElement;
    private readonly list = make("div", { class: "charts" });
    private readonly menu: HTMLSelectElement;
    private readonly note = make("span", { class: "note" });
    private charts: Chart[] = [];
    private series: Series = { names: [], columns: [], time: new Float64Array(0) };
    private time = 0;
    private begun = false;

    constructor(private readonly onTime: (time: number) => void) {
        this.menu = select("add-chart", [], "", (column) => {
            if (column === "*") this.choices().forEach((c) => this.add(c));
            else if (column) this.add(column);
        });
        this.element = make("section", { class: "chart-panel" },
            make("div", { class: "chart-head" }, make("b", {}, "Series"), this.menu, this.note), this.list);
        new ResizeObserver(() => this.resize()).observe(this.list);
    }

    setSeries(series: Series): void {
        this.series = series;
        if (!this.begun && series.names.length > 0) {
            this.begun = true;
            FIRST.filter((c) => series.names.includes(c)).forEach((c) => this.add(c));
        }
        this.note.textContent = series.time.length === 0 ? "no rows in series.csv yet" : "";
        for (const chart of this.charts) chart.plot.setData(this.dataOf(chart.column, chart.log));
        this.fillMenu();
        this.setTime(this.time);
    }

    setTime(time: number): void {
        this.time = time;
        const row = nearest(this.series.time, time);
        for (const chart of this.charts) {
            const column = this.columnOf(chart.column);
            chart.value.textContent = row >= 0 && column ? shortNumber(column[row], 5) : "";
            chart.plot.redraw(false);
        }
    }

    /** Columns shown and their numbers at the time of the frame. */
    get values(): Record<string, number> {
        const row = nearest(this.series.time, this.time);
        return Object.fromEntries(this.charts.map((c) => [c.column, this.columnOf(c.column)?.[row] ?? NaN]));
    }

    get columns(): string[] {
        return this.series.names.filter((name) => name !== "time");
    }

    add(column: string): void {
        if (!this.columns.includes(column)) throw new Error(`no column '${column}' in series.csv`);
        if (this.charts.some((c) => c.column === column)) return;
        const value = make("output", { class: "value", "data-column": column });
        const box = make("div", { class: "chart", "data-column": column });
        this.list.append(box);
        const chart: Chart = { column, box, value, log: false, plot: this.plotOf(column, box, false) };
        const logButton = button("log", "logarithmic axis", () => {
            chart.log = !chart.log;
            logButton.classList.toggle("on", chart.log);
            chart.plot.destroy();
            chart.plot = this.plotOf(column, box, chart.log);
        });
        box.prepend(make("header", {}, make("span", { class: "title" }, plain(column)), value, logButton,
                        button("×", "remove this chart", () => this.remove(chart))));
        this.charts.push(chart);
        this.fillMenu();
        this.resize();
        this.setTime(this.time);
    }

    remove(chart: Chart): void {
        chart.plot.destroy();
        chart.box.remove();
        this.charts = this.charts.filter((c) => c !== chart);
        this.fillMenu();
        this.resize();
    }

    private columnOf(name: string): Float64Array | undefined {
        return this.series.columns[this.series.names.indexOf(name)];
    }

    private choices(): string[] {
        return this.columns.filter((name) => !this.charts.some((c) => c.column === name));
    }

    private fillMenu(): void {
        const options = this.choices().map((name) => ({ value: name, label: plain(name) }));
        setOptions(this.menu, [{ value: "", label: "add a chart…" }, ...options, { value: "*", label: "all of them" }], "");
    }

    private dataOf(name: string, log: boolean): uPlot.AlignedData {
        const column = this.columnOf(name) ?? new Float64Array(0);
        // A logarithmic axis has no place for zero and below.
        const y = Array.from(column, (v) => (Number.isFinite(v) && (!log || v > 0) ? v : null));
        return [this.series.time, y];
    }

    private plotOf(column: string, box: HTMLElement, log: boolean): uPlot {
        const style = getComputedStyle(document.documentElement);
        const colour = (name: string): string => style.getPropertyValue(name).trim();
        const axis = { stroke: colour("--soft"), grid: { stroke: colour("--edge"), width: 1 }, ticks: { show: false },
                       font: "11px system-ui, sans-serif" };
        const numbers = (_: uPlot, splits: number[]): string[] => splits.map((v) => (v === null ? "" : shortNumber(v, 3)));
        const plot = new uPlot({
            width: this.width(), height: HEIGHT, legend: { show: false }, padding: [8, 22, 0, 0],
            cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
            scales: { x: { time: false }, y: log ? { distr: 3 } : { range: (_, low, high) => roomFor(low, high) } },
            axes: [{ ...axis, size: 26, values: numbers }, { ...axis, size: 58, values: numbers }],
            series: [{}, { stroke: colour("--accent"), width: 1.5, points: { show: false } }],
            hooks: { draw: [(u) => this.drawTime(u, colour("--mark"))] },
        }, this.dataOf(column, log), box);
        plot.over.addEventListener("pointerdown", (e) => this.scrub(plot, e));
        plot.over.addEventListener("pointermove", (e) => e.buttons === 1 && this.scrub(plot, e));
        return plot;
    }

    private scrub(plot: uPlot, event: PointerEvent): void {
        this.onTime(plot.posToVal(event.offsetX, "x"));
    }

    private drawTime(plot: uPlot, colour: string): void {
        const x = Math.round(plot.valToPos(this.time, "x", true));
        const { left, top, width, height } = plot.bbox;
        if (x < left || x > left + width) return;
        plot.ctx.save();
        plot.ctx.fillStyle = colour;
        plot.ctx.fillRect(x - window.devicePixelRatio / 2, top, Math.max(window.devicePixelRatio, 1) * 1.5, height);
        plot.ctx.restore();
    }

    private width(): number {
        const room = this.list.clientWidth;
        const columns = Math.max(1, Math.min(this.charts.length || 1, Math.floor(room / 280)));
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
        for (const chart of this.charts) {
            chart.plot.destroy();
            chart.plot = this.plotOf(chart.column, chart.box, chart.log);
        }
        this.resize();
    }
}

/** Range of an axis; a column that is constant has its line in the middle. */
function roomFor(low: number | null, high: number | null): uPlot.Range.MinMax {
    if (low === null || high === null) return [0, 1];
    if (low < high) return uPlot.rangeNum(low, high, 0.1, true);
    const half = Math.abs(low) / 2 || 1;
    return [low - half, low + half];
}
