import { readShipped } from "./shipped-files.ts";

/** What the tests need of the shipped unit. */
export function readUnit() {
  const text = readShipped("systemd/emberline.service");
  const values = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value);
  return {
    /** The only value of a directive, or undefined. */
    value: (name: string) => values(name)[0],
    exec: (values("ExecStart")[0] ?? "").split(" "),
    credentials: values("LoadCredential").map((value) => value.split(":", 1)[0] ?? ""),
    /** Variables, with the folders that systemd's specifiers stand for. */
    environment: (folders: Record<string, string>): Record<string, string> =>
      Object.fromEntries(
        values("Environment").map((value) => {
          const [name = "", text = ""] = value.split("=");
          return [name, text.replace(/%(\w)/, (_all, letter: string) => folders[letter] ?? "")];
        }),
      ),
    /** Lists of SystemCallFilter: what is allowed, then what is not. */
    systemCalls: values("SystemCallFilter"),
  };
}
