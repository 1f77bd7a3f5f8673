import { Emberline, EmberlineError } from "./client/emberline.ts";
import { byId } from "./dom.ts";

const token = new URLSearchParams(location.search).get("token") ?? "";
// The token is valid for an hour, so it is removed from address bar and history.
history.replaceState(null, "", location.pathname);

const service = new Emberline({ accessToken: () => null, credentials: "same-origin" });
const outcomes = ["done", "invalid", "wrong", "later"] as const;
type Outcome = (typeof outcomes)[number];

function show(outcome: Outcome) {
  for (const id of outcomes) byId(id).hidden = id !== outcome;
  byId("reset").hidden = outcome === "done" || outcome === "invalid";
}

async function reset(password: string): Promise<Outcome> {
  try {
    await service.call("POST", "/v1/gateway/reset-password", { body: { token, password } });
    return "done";
  } catch (error) {
    const status = error instanceof EmberlineError ? error.status : 0;
    return status === 401 ? "invalid" : status === 422 ? "wrong" : "later";
  }
}

async function submit() {
  const button = byId("submit", HTMLButtonElement);
  button.disabled = true;
  show(await reset(byId("password", HTMLInputElement).value));
  button.disabled = false;
}

if (token === "") show("invalid");
byId("reset").addEventListener("submit", (event) => {
  event.preventDefault();
  void submit();
});
