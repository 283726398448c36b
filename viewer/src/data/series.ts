// series.csv: one line of names, then numbers. Columns as arrays; the column `time` is the abscissa.

export interface Series {
    names: string[];
    columns: Float64Array[];
    time: Float64Array;
}

export function parseSeries(text: string): Series {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const names = (lines[0] ?? "").split(",").map((name) => name.trim());
    const columns = names.map(() => new Float64Array(Math.max(lines.length - 1, 0)));
    for (let row = 1; row < lines.length; row++) {
        const words = lines[row].split(",");
        for (let c = 0; c < names.length; c++) {
            columns[c][row - 1] = words[c] ? Number(words[c]) : NaN;
        }
    }
    return { names, columns, time: columns[names.indexOf("time")] ?? new Float64Array(0) };
}

/** Row whose time is nearest, -1 if there are none. Times ascend. */
export function nearest(times: ArrayLike<number>, time: number): number {
    let low = 0;
    let high = times.length - 1;
    if (high < 0) return -1;
    while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (times[middle] <= time) low = middle;
        else high = middle;
    }
    return time - times[low] <= times[high] - time ? low : high;
}
