import type { ActionService } from "../../../../server/operator/failures/action-routes.ts";

const unused = () => Promise.reject(new Error("not a part of this test"));

/** For tests of groups without retries and removals. */
export const noActions: ActionService = {
  preview: unused,
  start: unused,
  list: async () => [],
  find: unused,
  cancel: unused,
};
