import { readTextSync } from "../text/text-file.ts";
import { secretSettings } from "./settings.ts";

type Env = Record<string, string | undefined>;

/** Social logins are not in the table of settings. */
const oauthSecretFile = /^OAUTH_[A-Z0-9_]+_SECRET_FILE$/;
const suffix = "_FILE";
const maxCharacters = 16_384;

/**
 * Replaces each `<name>_FILE` of a secret by the content of the file, without spaces around it (BOOT-40). A problem
 * begins with the setting, so that nothing else is reported about it.
 */
export function readSecretFiles(given: Env): { env: Env; problems: string[] } {
  const env = { ...given };
  const problems: string[] = [];
  for (const name of namesIn(given)) {
    const path = given[name + suffix]?.trim() ?? "";
    if (path === "") continue;
    const isBoth = (given[name]?.trim() ?? "") !== "";
    const content = isBoth ? null : contentOf(path);
    if (isBoth) problems.push(`${name}: set either ${name} or ${name}_FILE, not both`);
    else if (typeof content === "string") env[name] = content;
    else problems.push(`${name}: ${name}_FILE ${content?.problem}`);
  }
  return { env, problems };
}

/** Environment of a child process, which gets the contents and must not read the files again. */
export const forgetSecretFiles = (): Record<string, string> =>
  Object.fromEntries(secretSettings.map((name) => [name + suffix, ""]));

const namesIn = (env: Env): string[] => [
  ...secretSettings,
  ...Object.keys(env)
    .filter((name) => oauthSecretFile.test(name))
    .map((name) => name.slice(0, -suffix.length)),
];

/** The path is no secret, the content is: only the former is in a message. */
function contentOf(path: string): string | { problem: string } {
  try {
    const content = readTextSync(path).trim();
    if (content === "") return { problem: `names an empty file: ${path}` };
    if (content.length > maxCharacters)
      return { problem: `names a file of more than ${maxCharacters} characters: ${path}` };
    // Bytes of a random generator: most of them would become the same character.
    if (content.includes("\ufffd")) return { problem: `names a file that is not UTF-8: ${path}` };
    return content;
  } catch (error) {
    const { code = "unreadable" } = error as NodeJS.ErrnoException;
    return { problem: `cannot be read: ${path} (${code})` };
  }
}
