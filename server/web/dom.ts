type Child = string | Node | null | undefined | readonly Child[];

/**
 * An element. Texts only ever become text nodes and attribute values, never markup. A text sets an attribute, null
 * leaves it out, and anything else sets the property of this name.
 */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, unknown>>,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "string") node.setAttribute(name, value);
    else if (value != null) Object.assign(node, { [name]: value });
  }
  append(node, children);
  return node;
}

function append(node: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(node, child);
    else if (child instanceof Node || typeof child === "string") node.append(child);
  }
}

/** An element of the page's own markup. */
export function byId(id: string): HTMLElement;
export function byId<T extends HTMLElement>(id: string, type: new () => T): T;
export function byId(id: string, type: new () => HTMLElement = HTMLElement): HTMLElement {
  const node = document.getElementById(id);
  if (!(node instanceof type)) throw new Error(`The page has no ${type.name} "${id}".`);
  return node;
}

/** Leaves unchanged text alone, so that live regions speak only of news; takes an element or its id. */
export function setText(target: Element | string, text: string): void {
  const node = typeof target === "string" ? byId(target) : target;
  if (node.textContent !== text) node.textContent = text;
}
