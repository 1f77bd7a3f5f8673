const token = new URLSearchParams(location.search).get("token") ?? "";
// The token is good for an hour: it need not stay in the address bar and the history.
history.replaceState(null, "", location.pathname);

const form = document.querySelector("form");
const button = form.querySelector("button");
const outcomes = { 200: "done", 401: "invalid", 422: "wrong" };

function show(id) {
  for (const name of ["done", "invalid", "wrong", "later"])
    document.getElementById(name).hidden = name !== id;
  form.hidden = id === "done" || id === "invalid";
}

if (token === "") show("invalid");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  button.disabled = true;
  try {
    const answer = await fetch("/v1/gateway/reset-password", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token, password: form.querySelector("input").value }),
    });
    show(outcomes[answer.status] ?? "later");
  } catch {
    show("later");
  } finally {
    button.disabled = false;
  }
});
