/** The modules of the client as one file in TypeScript, without imports; `root` is the folder of `server`. */
export function joinClient(root: string): string;

/** The comment at the start of the client. */
export function bannerOf(source: string): string;
