import type { ConsentQuestion, ConsentResult, Session } from "./generated/answers.ts";
import { Emberline, EmberlineError } from "./client/emberline.ts";
import { byId, setText } from "./dom.ts";

const here = location.pathname;
const notes = ["wrong", "locked", "guest", "expired", "later", "again"] as const;
let token: string | null = null;
let isBusy = false;

/** The cookies contain earlier sign-ins and the proof that this browser was sent here. */
const service = new Emberline({ accessToken: () => token, credentials: "same-origin" });
const form = byId("sign-in");

function note(shown: (typeof notes)[number] | null) {
  for (const id of notes) byId(id).hidden = id !== shown;
}

function showSignIn() {
  token = null;
  form.hidden = false;
  byId("who").hidden = true;
  byId("choice").hidden = true;
  byId("identifier").focus();
}

/** A guest has no account that could grant anything. */
function enter({ access_token: access, player }: Session) {
  if (player.is_guest) {
    showSignIn();
    return note("guest");
  }
  token = access;
  note(null);
  form.hidden = true;
  setText("player", player.display_name ?? player.username ?? player.name);
  byId("who").hidden = false;
  byId("choice").hidden = false;
  byId("ask").focus();
}

function close(error: unknown) {
  form.hidden = true;
  byId("ask").hidden = true;
  note(statusOf(error) === 404 ? "expired" : "later");
}

const statusOf = (error: unknown) => (error instanceof EmberlineError ? error.status : 0);

async function decide(isAllowed: boolean) {
  try {
    const body = { is_allowed: isAllowed };
    const { redirect } = await service.call<ConsentResult>("POST", here, { body });
    byId("choice").hidden = true;
    location.assign(redirect);
  } catch (error) {
    if (!(error instanceof EmberlineError) || error.status !== 401) return close(error);
    showSignIn();
    note(error.code === "oauth:sign_in_required" ? "again" : null);
  }
}

async function signIn() {
  const identifier = byId("identifier", HTMLInputElement).value;
  const password = byId("password", HTMLInputElement);
  const body = { identifier, password: password.value };
  try {
    enter(await service.call<Session>("POST", "/v1/gateway/login", { body }));
  } catch (error) {
    const status = statusOf(error);
    note(status === 423 ? "locked" : status === 401 || status === 422 ? "wrong" : "later");
  } finally {
    password.value = "";
  }
}

async function begin() {
  let question: ConsentQuestion;
  try {
    question = await service.call("GET", `${here}/question`, { once: true });
  } catch (error) {
    return close(error);
  }
  setText("client", question.client_name);
  for (const scope of question.scopes)
    document.getElementById(`scope-${scope}`)?.removeAttribute("hidden");
  byId("ask").hidden = false;
  if (question.must_sign_in) return showSignIn();
  const session = await service.call<Session>("POST", "/v1/gateway/refresh").catch(() => null);
  if (session) enter(session);
  else showSignIn();
}

/** Runs one action at a time: the second of two clicks would be refused. */
async function alone(work: () => Promise<void>) {
  if (isBusy) return;
  isBusy = true;
  await work().catch(() => note("later"));
  isBusy = false;
}

byId("allow").addEventListener("click", () => void alone(() => decide(true)));
byId("deny").addEventListener("click", () => void alone(() => decide(false)));
byId("other").addEventListener("click", () => void alone(async () => showSignIn()));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void alone(signIn);
});
void alone(begin);
