import { ask, make, query, segment, trail } from "./page.js";
import { pageChooser, labelled } from "./pieces.js";

/**
 * A branch of a game, with the addresses of its pages and of what they read. `branch` is left out of
 * addresses when it is the main one.
 * @param {string} game
 */
export function placeOf(game) {
  const branch = new URLSearchParams(location.search).get("branch") ?? "main";
  const asked = branch === "main" ? undefined : branch;
  const home = `/codex/${segment(game)}`;
  const api = `/v1/codex/${segment(game)}`;
  return {
    game,
    branch,
    home: home + query({ branch: asked }),
    feed: `${home}/changelog.atom${query({ branch: asked })}`,
    patches: `${home}/patches${query({ branch: asked })}`,
    /** @param {string} version @param {Record<string, unknown>} [rest] */
    patch: (version, rest) =>
      `${home}/patches/${segment(version)}${query({ branch: asked, ...rest })}`,
    /** @param {string} thing a type or an id @param {Record<string, unknown>} [rest] */
    page: (thing, rest) => `${home}/${segment(thing)}${query({ branch: asked, ...rest })}`,
    /** @param {string} path below the game @param {Record<string, unknown>} [rest] @param {AbortSignal} [signal] */
    ask: (path, rest, signal) => ask(`${api}/${path}${query({ branch: asked, ...rest })}`, signal),
  };
}

/** @typedef {ReturnType<typeof placeOf>} Place */

/** All games, and the one of the place among them. @param {Place} place */
export async function readGame(place) {
  const { games } = await ask("/v1/codex/games");
  const game = games.find((/** @type {any} */ one) => one.slug === place.game);
  return game ?? { slug: place.game, display_name: place.game, branches: ["main"] };
}

/**
 * The line above a page: where it is, and which branch of the game is read.
 * @param {Place} place @param {{ display_name: string, branches: string[] }} game @param {[string, string | null][]} steps
 */
export function placeLine(place, game, steps) {
  const line = make(
    "div",
    { class: "place-line" },
    trail([["Codex", "/codex"], [game.display_name, place.home], ...steps]),
  );
  if (game.branches.length > 1) {
    const choices = /** @type {[string, string][]} */ (game.branches.map((slug) => [slug, slug]));
    const go = (/** @type {string} */ slug) => {
      const address = new URL(location.href);
      if (slug === "main") address.searchParams.delete("branch");
      else address.searchParams.set("branch", slug);
      location.assign(address);
    };
    line.append(labelled("Branch", pageChooser(choices, place.branch, go)));
  }
  return line;
}
