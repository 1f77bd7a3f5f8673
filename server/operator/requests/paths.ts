import { html } from "../html.ts";
import type { Value } from "../html.ts";

export const requestsPath = "/operator/requests";

export const requestPathOf = (id: string): string => `${requestsPath}/${encodeURIComponent(id)}`;

/** Link to the timeline of a request; nothing for null. */
export const requestLink = (id: string | null): Value =>
  id !== null && html`<a href="${requestPathOf(id)}">${id}</a>`;
