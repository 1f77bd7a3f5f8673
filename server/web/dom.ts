/**
 * Creates an element: `el("a", { class: "card", href }, "More ", el("b", "…"))`. A string sets an
 * attribute, null omits it, and any other value sets the property of this name (`hidden: true`, `onclick:
 * () => …`). Texts become text nodes and attribute values only, never markup; null children are ignored.
 */
export { default as el } from "crelt";

/** An element of the page's static markup. */
export function byId(id: string): HTMLElement;
export function byId<T extends HTMLElement>(id: string, type: new () => T): T;
export function byId(id: string, type: new () => HTMLElement = HTMLElement): HTMLElement {
  const node = document.getElementById(id);
  if (!(node instanceof type)) throw new Error(`The page has no ${type.name} "${id}".`);
  return node;
}

/** Leaves unchanged text alone, so that live regions announce changes only; takes an element or its id. */
export function setText(target: Element | string, text: string): void {
  const node = typeof target === "string" ? byId(target) : target;
  if (node.textContent !== text) node.textContent = text;
}
