// Not an import: of all that node:http exports, its WebSocket loads undici, which takes 70 ms of the
// processor at each start of a process.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** The phrase that follows a status in a response. */
export function reasonOf(status: number): string {
  return STATUS_CODES[status] ?? "Unknown";
}
