import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PageSignals } from "../../../../server/web/client/page-signals.ts";
import { systemClock } from "../../../../server/web/client/timing.ts";

/** A page, the time, and what its stream was told. */
function openPage() {
  let elapsed = 0;
  const news: string[] = [];
  const document = Object.assign(new EventTarget(), { hidden: false });
  const page = Object.assign(new EventTarget(), { document });
  const clock = { ...systemClock, elapsed: () => elapsed, now: () => 0 };
  const signals = new PageSignals(clock, page);
  const stop = signals.follow({
    wake: () => news.push("wake"),
    look: (isHidden) => news.push(isHidden ? "hidden" : "visible"),
  });
  const setHidden = (isHidden: boolean) => {
    document.hidden = isHidden;
    document.dispatchEvent(new Event("visibilitychange"));
  };
  return { page, document, signals, news, stop, setHidden, pass: (ms: number) => (elapsed += ms) };
}

describe("a page", () => {
  it("wakes its streams when it was hidden for 5 s, and not before", () => {
    const { setHidden, pass, news } = openPage();
    for (const ms of [4_999, 5_000]) {
      setHidden(true);
      pass(ms);
      setHidden(false);
    }
    assert.deepEqual(news, ["hidden", "visible", "hidden", "visible", "wake"]);
  });

  it("wakes its streams when the network is back, and when it was frozen or kept in the history", () => {
    const { page, document, news } = openPage();
    page.dispatchEvent(new Event("online"));
    document.dispatchEvent(new Event("resume"));
    page.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
    page.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: false }));
    page.dispatchEvent(new Event("offline"));
    assert.deepEqual(news, ["wake", "wake", "wake"]);
  });

  it("is listened to only while there is a stream", () => {
    const { page, signals, news, stop, setHidden } = openPage();
    stop();
    page.dispatchEvent(new Event("online"));
    setHidden(true);
    signals.wake();
    assert.deepEqual(news, []);
  });

  it("may be missing, as in Node: its streams are woken by hand", () => {
    const news: string[] = [];
    const signals = new PageSignals(systemClock, {});
    signals.follow({ wake: () => news.push("wake"), look: () => news.push("look") });
    signals.wake();
    assert.deepEqual([news, signals.isHidden], [["wake"], false]);
  });
});
