/** Authors who gave their icons away without conditions. */
const publicDomain: ReadonlySet<string> = new Set(["viscious-speed", "zeromancer"]);

export const iconSource = { name: "game-icons.net", url: "https://game-icons.net" };

export interface Licence {
  name: string;
  url: string;
}

const attribution: Licence = {
  name: "CC BY 3.0",
  url: "https://creativecommons.org/licenses/by/3.0/",
};
const dedication: Licence = {
  name: "CC0 1.0",
  url: "https://creativecommons.org/publicdomain/zero/1.0/",
};

export const licenceOf = (author: string): Licence =>
  publicDomain.has(author) ? dedication : attribution;

/** `carl-olsen` -> `Carl Olsen`. */
export const displayNameOf = (author: string): string =>
  author.replace(/(^|-)([a-z])/g, (_, start: string, letter: string) => {
    return (start === "" ? "" : " ") + letter.toUpperCase();
  });

/** Attribution the licence requires: author, source and terms. */
export function creditOf(author: string): string {
  return `Icon by ${displayNameOf(author)}, ${iconSource.name}, ${licenceOf(author).name}`;
}
