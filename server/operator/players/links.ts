import { html, type Html } from "../html.ts";

const parts = { wallet: "Wallet", messages: "Messages", uploads: "Uploads" } as const;
type Part = keyof typeof parts;

export const playerPath = (id: number): string => `/operator/players/${id}`;
export const playerPartPath = (id: number, part: Part): string => `${playerPath(id)}/${part}`;

/** Links to the pages that belong to a player; not to the one that is shown. */
export const playerLinks = (id: number, shown: Part | null = null): Html =>
  html`<p class="tabs">
    ${shown === null ? null : html`<a href="${playerPath(id)}">Player ${id}</a> `}${Object.entries(
      parts,
    ).map(([part, text]) =>
      part === shown
        ? html`<b>${text}</b> `
        : html`<a href="${playerPartPath(id, part as Part)}">${text}</a> `,
    )}
  </p>`;
