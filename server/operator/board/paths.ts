/** The queue board of the package Bull Board, with all of its paths below this one. */
export const boardPath = "/operator/queues/board";

export const isBoardPath = (path: string): boolean =>
  path === boardPath || path.startsWith(`${boardPath}/`);
