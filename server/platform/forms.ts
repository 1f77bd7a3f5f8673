/** The newest entry of `.deploy/releases.json`, which may run beside this release. */
export const previousRelease = "0.1.0";

/**
 * Forms of what releases store for each other or send to each other (BOOT-22). A release reads the form of its
 * predecessor and its own; it writes the former until `fleet:finish-upgrade`. Form 1 carries no number.
 */
export const forms = {
  /** Field `f` of a stored room. */
  room: [1],
  /** `form` of a payload. */
  job: [1],
  /** Last member of a message between processes. */
  message: [1],
} as const satisfies Record<string, readonly number[]>;

const firstForm = 1;

/** The form of something stored or received; without a number it is the first. */
export const formOf = (number: unknown): number =>
  number === undefined ? firstForm : Number(number);

export function isReadable(kind: keyof typeof forms, form: number): boolean {
  const readable: readonly number[] = forms[kind];
  return readable.includes(form);
}
