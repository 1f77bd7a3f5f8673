import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import type { CallFrame } from "./cpu-profile.ts";

/**
 * Names the functions of a profile by their sources, "server/http/uws/server.ts:accept", bundled or not;
 * "node:net:connect" for Node, "node_modules/..." for packages, and the bare name outside JavaScript.
 */
export class SourceNames {
  private readonly root: string;
  private readonly maps = new Map<string, SourceMap | null>();

  /** `root`: folder of the profiled checkout. */
  constructor(root: string) {
    this.root = root.endsWith("/") ? root : `${root}/`;
  }

  nameOf(frame: CallFrame): string {
    const { functionName, url } = frame;
    if (url === "") return functionName;
    return `${url.startsWith("node:") ? url : this.fileOf(frame)}:${functionName}`;
  }

  private fileOf({ url, lineNumber, columnNumber }: CallFrame): string {
    const path = url.startsWith("file:") ? fileURLToPath(url) : url;
    const map = this.mapOf(path);
    if (map === null) return this.shorten(path);
    const entry = map.findEntry(lineNumber, columnNumber);
    // The map has no positions inside bundled packages, and returns the preceding source for them.
    if (!("originalSource" in entry) || entry.generatedLine !== lineNumber)
      return "node_modules/(bundled)";
    return this.shorten(fileURLToPath(new URL(entry.originalSource, url)));
  }

  private mapOf(path: string): SourceMap | null {
    let map = this.maps.get(path);
    if (map === undefined) {
      const file = `${path}.map`;
      map = existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, "utf8"))) : null;
      this.maps.set(path, map);
    }
    return map;
  }

  private shorten(path: string): string {
    const packages = path.lastIndexOf("node_modules/");
    if (packages >= 0) return path.slice(packages);
    return path.startsWith(this.root) ? path.slice(this.root.length) : path;
  }
}
