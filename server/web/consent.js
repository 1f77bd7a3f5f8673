const here = location.pathname;
const byId = (id) => document.getElementById(id);
const form = document.querySelector("form");
const notes = ["wrong", "locked", "guest", "expired", "later", "again"];
let token = "";
let isBusy = false;

function note(id) {
  for (const name of notes) byId(name).hidden = name !== id;
}

async function call(method, path, body, bearer) {
  const answer = await fetch(path, {
    method,
    headers: {
      ...(body ? { "content-type": "application/json" } : {}),
      ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const json = await answer.json().catch(() => ({}));
  const code = json.flash?.errors?.[0]?.code;
  return { status: answer.status, body: json.body ?? {}, code };
}

function showSignIn() {
  token = "";
  form.hidden = false;
  byId("who").hidden = true;
  byId("choice").hidden = true;
  byId("identifier").focus();
}

/** A guest has no account, so there is nothing to allow. */
function enter({ access_token: access, player }) {
  if (player.is_guest) {
    showSignIn();
    return note("guest");
  }
  token = access;
  note("");
  form.hidden = true;
  byId("player").textContent = player.display_name ?? player.username ?? player.name;
  byId("who").hidden = false;
  byId("choice").hidden = false;
  byId("ask").focus();
}

function close(id) {
  form.hidden = true;
  byId("ask").hidden = true;
  note(id);
}

async function decide(isAllowed) {
  const { status, body, code } = await call("POST", here, { is_allowed: isAllowed }, token);
  if (status === 200) {
    byId("choice").hidden = true;
    return location.assign(body.redirect);
  }
  if (status === 401) {
    showSignIn();
    return note(code === "oauth:sign_in_required" ? "again" : "");
  }
  return close(status === 404 ? "expired" : "later");
}

/** One thing at a time: what two clicks ask for would be refused the second time. */
const guarded = (work) => async (event) => {
  event?.preventDefault();
  if (isBusy) return;
  isBusy = true;
  try {
    await work();
  } catch {
    note("later");
  } finally {
    isBusy = false;
  }
};

byId("allow").addEventListener(
  "click",
  guarded(() => decide(true)),
);
byId("deny").addEventListener(
  "click",
  guarded(() => decide(false)),
);
byId("other").addEventListener(
  "click",
  guarded(async () => showSignIn()),
);
form.addEventListener(
  "submit",
  guarded(async () => {
    const identifier = byId("identifier").value;
    const password = byId("password").value;
    const { status, body } = await call("POST", "/v1/gateway/login", { identifier, password });
    byId("password").value = "";
    if (status === 200) return enter(body);
    note(status === 423 ? "locked" : status === 401 || status === 422 ? "wrong" : "later");
  }),
);

await guarded(async () => {
  const { status, body } = await call("GET", `${here}/question`);
  if (status !== 200) return close(status === 404 ? "expired" : "later");
  byId("client").textContent = body.client_name;
  for (const scope of body.scopes) byId(`scope-${scope}`)?.removeAttribute("hidden");
  byId("ask").hidden = false;
  if (body.must_sign_in) return showSignIn();
  const session = await call("POST", "/v1/gateway/refresh");
  if (session.status === 200) enter(session.body);
  else showSignIn();
})();
