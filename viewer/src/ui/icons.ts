// Pictures on buttons: strokes on a field of 24 by 24.

const PATHS = {
    fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
    cube: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5",
    box: "M4 4h3M10 4h4M17 4h3v3M20 10v4M20 17v3h-3M14 20h-4M7 20H4v-3M4 14v-4M4 7V4",
    camera: "M4 8h4l1.5-2.5h5L16 8h4v11H4zM12 16.5a3.2 3.2 0 100-6.4 3.2 3.2 0 000 6.4z",
    link: "M10 14a4 4 0 006 0l3-3a4 4 0 00-6-6l-1 1M14 10a4 4 0 00-6 0l-3 3a4 4 0 006 6l1-1",
    theme: "M12 3a9 9 0 100 18 9 9 0 000-18zM12 3v18M12 7h6.5M12 12h9M12 17h6.5",
    help: "M9 9a3 3 0 116 0c0 2-3 2.5-3 5M12 18v.5",
    panel: "M4 5h16v14H4zM14.5 5v14",
    chart: "M4 4v16h16M7 15l4-5 3 3 5-7",
    play: "M8 5l11 7-11 7z",
    pause: "M8 5v14M16 5v14",
    first: "M6 5v14M18 5l-9 7 9 7z",
    last: "M18 5v14M6 5l9 7-9 7z",
    back: "M15 5l-8 7 8 7",
    next: "M9 5l8 7-8 7",
    repeat: "M17 4l3 3-3 3M20 7H8a4 4 0 00-4 4v1M7 20l-3-3 3-3M4 17h12a4 4 0 004-4v-1",
    close: "M6 6l12 12M18 6L6 18",
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): SVGSVGElement {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    const path = document.createElementNS(space, "path");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("class", "icon");
    path.setAttribute("d", PATHS[name]);
    svg.append(path);
    return svg;
}
