// Small makers of elements, so that the rest of the page reads as a description of itself.

type Child = Node | string;

export function make<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Record<string, string> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
}

export function button(label: Child, title: string, onClick: () => void): HTMLButtonElement {
    const element = make("button", { type: "button", title, "aria-label": title }, label);
    element.addEventListener("click", onClick);
    return element;
}

export interface Option {
    value: string;
    label: string;
    title?: string;
}

export function select(id: string, options: Option[], value: string, onChange: (value: string) => void): HTMLSelectElement {
    const element = make("select", id ? { id } : {});
    setOptions(element, options, value);
    element.addEventListener("change", () => onChange(element.value));
    return element;
}

export function setOptions(element: HTMLSelectElement, options: Option[], value: string): void {
    element.replaceChildren(...options.map((o) => make("option", { value: o.value, title: o.title ?? "" }, o.label)));
    element.value = value;
}

export function checkbox(id: string, label: string, on: boolean, onChange: (on: boolean) => void): HTMLLabelElement {
    const box = make("input", { id, type: "checkbox" });
    box.checked = on;
    box.addEventListener("change", () => onChange(box.checked));
    return make("label", { class: "check" }, box, make("span", {}, label));
}

/** A named line of the panel. */
export function line(label: string, ...controls: Child[]): HTMLElement {
    return make("div", { class: "line" }, make("span", { class: "name" }, label), ...controls);
}

export function cssColour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Hand a file to the user. */
export function download(content: Blob, name: string): void {
    const link = make("a", { href: URL.createObjectURL(content), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
