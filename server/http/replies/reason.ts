// Not an import: of all that node:http exports, its WebSocket loads undici. A start of Node takes 71 ms of the
// processor with it, 37 without: `node --input-type=module -e 'import "node:http"; console.log(process.cpuUsage())'`.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** The phrase that follows a status in a response. */
export function reasonOf(status: number): string {
  return STATUS_CODES[status] ?? "Unknown";
}
