import type { OperatorCaller } from "../../http/auth/auth.ts";
import { html, type Html } from "../html.ts";
import { page } from "../layout.ts";
import { boardPath } from "./paths.ts";

export const reasonPage = (caller: OperatorCaller): Html =>
  page(
    { title: "Queue board", caller },
    html`<h1>Change jobs on the queue board</h1>
      <p>
        Adding, editing, emptying and the like need a reason for the audit log. The board shows
        their buttons for 15 minutes.
      </p>
      <form method="post" action="${boardPath}/reason">
        <label for="reason">Reason</label>
        <input id="reason" name="reason" maxlength="500" required autofocus />
        <p><button class="primary">Continue to the board</button></p>
      </form>
      <p><a href="${boardPath}">The board without these buttons</a></p>`,
  );
